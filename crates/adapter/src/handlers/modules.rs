//! The `modules` request, with additional columns (`additionalModuleColumns`).

use crate::adapter::{Adapter, Phase};
use crate::to_dap::OrFail;
use crate::{from_dap, to_dap};
use dapple_dap::Request;
use dapple_dap::server::{Context, Failure};
use dapple_dap::types::{self, ColumnDescriptor, ColumnDescriptorType, Module, ModulesArguments};
use dapple_engine::frame::Language;
use dapple_engine::modules::{IndexState, ModuleDetails};
use serde::{Deserialize, Serialize};

/// [`types::ModulesRequest`] with a response that has the fields of [`columns`].
#[derive(Debug)]
pub struct ModulesRequest;

impl Request for ModulesRequest {
    const COMMAND: &'static str = types::ModulesRequest::COMMAND;
    const CAPABILITY: Option<&'static str> = types::ModulesRequest::CAPABILITY;
    type Arguments = ModulesArguments;
    type Response = ListedModules;
}

/// A page of the modules.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedModules {
    /// The modules of the page.
    pub modules: Vec<ListedModule>,
    /// How many there are in all.
    pub total_modules: i64,
}

/// A module with the additional fields.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedModule {
    /// The protocol's own fields.
    #[serde(flatten)]
    pub module: Module,
    /// The build id, in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// The language of most of its units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The compiler, as the debug information names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// The size of its debug information, in bytes; 0 without any.
    pub debug_info_size: u64,
    /// Where its debug information is: `the file itself`, or a path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debug_info_from: Option<String>,
    /// The state of the index of its names.
    pub index: String,
}

/// The columns for facts about modules that the protocol has no fields for.
pub fn columns() -> Vec<ColumnDescriptor> {
    let text = |name: &str, label: &str, width| {
        ColumnDescriptor::new(name, label)
            .with_type(ColumnDescriptorType::String)
            .with_width(width)
    };
    vec![
        text("buildId", "Build Id", 40),
        text("language", "Language", 8),
        text("compiler", "Compiler", 40),
        ColumnDescriptor::new("debugInfoSize", "Debug Information (bytes)")
            .with_type(ColumnDescriptorType::Number)
            .with_width(12),
        text("debugInfoFrom", "Debug Information From", 40),
        text("index", "Index", 20),
    ]
}

/// Lists a page of the loaded modules.
pub fn modules(
    adapter: &mut Adapter,
    arguments: ModulesArguments,
    _: &mut Context,
) -> Result<ListedModules, Failure> {
    if adapter.phase == Phase::Ended {
        return Ok(ListedModules {
            modules: Vec::new(),
            total_modules: 0,
        });
    }
    let range = from_dap::frames(arguments.start_module, arguments.module_count);
    let (modules, total) = adapter.debuggee()?.module_details(range).or_fail()?;
    Ok(ListedModules {
        modules: modules.iter().map(listed).collect(),
        total_modules: to_dap::saturated(total as u64),
    })
}

fn listed(details: &ModuleDetails) -> ListedModule {
    let mut module = to_dap::module(&details.info);
    let from = details.debug_file.as_ref();
    module.symbol_file_path = from.map(|file| file.display().to_string());
    let is_own = from.is_some_and(|file| *file == details.info.path);
    ListedModule {
        module,
        build_id: details.build_id.clone(),
        language: details
            .language
            .map(|language| language_name(language).to_owned()),
        compiler: details.compiler.clone(),
        debug_info_size: details.debug_info_size,
        debug_info_from: from.map(|file| match is_own {
            true => "the file itself".to_owned(),
            false => file.display().to_string(),
        }),
        index: match details.index {
            IndexState::Used => "used",
            IndexState::Missing => "not made yet",
            IndexState::Unneeded => "not needed",
            IndexState::Cancelled => "cancelled",
        }
        .to_owned(),
    }
}

fn language_name(language: Language) -> &'static str {
    match language {
        Language::C => "C",
        Language::Cpp => "C++",
        Language::Rust => "Rust",
        Language::Other => "other",
    }
}
