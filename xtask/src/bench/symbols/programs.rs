//! Two programs with hundreds of megabytes of debug information, which are built once.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};

/// The crate with the Rust program, and its version. It includes a lock file.
const CRATE: (&str, &str) = ("ra_ap_rust-analyzer", "0.0.331");

/// The number of translation units of the C++ program.
const UNITS: usize = 200;

/// A program, and where to stop in it.
pub struct Program {
    /// The name for output.
    pub name: &'static str,
    /// The executable.
    pub path: PathBuf,
    /// The source file of `line`.
    pub source: PathBuf,
    /// The line to stop at.
    pub line: i64,
    /// The function to stop in, with its full name.
    pub function: String,
}

/// The directory in which the programs and the debuggers' indexes are kept.
pub fn folder() -> anyhow::Result<PathBuf> {
    let cache = match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) if !cache.is_empty() => PathBuf::from(cache),
        _ => {
            let home =
                std::env::var_os("HOME").context("neither XDG_CACHE_HOME nor HOME is set")?;
            PathBuf::from(home).join(".cache")
        }
    };
    let folder = cache.join("dapple-bench");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("can't create {}", folder.display()))?;
    Ok(folder)
}

/// Builds the programs that don't exist yet.
pub fn build(folder: &Path) -> anyhow::Result<Vec<Program>> {
    Ok(vec![rust(folder)?, cpp(folder)?])
}

fn rust(folder: &Path) -> anyhow::Result<Program> {
    let (name, version) = CRATE;
    let root = folder.join(format!("{name}-{version}"));
    let path = root.join("bin/rust-analyzer");
    if !path.is_file() {
        println!("building {name} {version}; this takes long, once");
        let target = root.join("target");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["install", name, "--version", &format!("={version}")])
            .args(["--debug", "--locked", "--quiet", "--root"])
            .arg(&root)
            .arg("--target-dir")
            .arg(&target)
            .env("CARGO_INCREMENTAL", "0")
            .status()?;
        if !status.success() {
            bail!("{name} did not build");
        }
        std::fs::remove_dir_all(&target).ok();
    }
    let source = registry_source(&format!("{name}-{version}/src/bin/main.rs"))?;
    let line = line_behind(&source, "fn main() ")?;
    Ok(Program {
        name: "Rust",
        path,
        source,
        line,
        function: "rust_analyzer::main".to_owned(),
    })
}

/// A file of a crate that cargo has unpacked.
fn registry_source(file: &str) -> anyhow::Result<PathBuf> {
    let home = match std::env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => PathBuf::from(std::env::var_os("HOME").context("HOME is not set")?).join(".cargo"),
    };
    let sources = home.join("registry/src");
    let registries =
        std::fs::read_dir(&sources).with_context(|| format!("no {}", sources.display()))?;
    registries
        .filter_map(|registry| Some(registry.ok()?.path().join(file)))
        .find(|path| path.is_file())
        .with_context(|| format!("no {file} in {}", sources.display()))
}

/// The number of the line after the first that begins with `start`.
fn line_behind(source: &Path, start: &str) -> anyhow::Result<i64> {
    let text = std::fs::read_to_string(source)
        .with_context(|| format!("can't read {}", source.display()))?;
    let line = text.lines().position(|line| line.starts_with(start));
    let line = line.with_context(|| format!("no `{start}` in {}", source.display()))?;
    Ok(i64::try_from(line)? + 2)
}

fn cpp(folder: &Path) -> anyhow::Result<Program> {
    let root = folder.join(format!("cpp-{UNITS}"));
    let path = root.join("large");
    let source = root.join("main.cpp");
    if !path.is_file() {
        println!("building {UNITS} units of C++; this takes a few minutes, once");
        std::fs::create_dir_all(&root)?;
        std::fs::write(&source, main_text())?;
        for unit in 0..UNITS {
            std::fs::write(root.join(format!("part_{unit}.cpp")), unit_text(unit))?;
        }
        compile_all(&root)?;
    }
    Ok(Program {
        name: "C++",
        path,
        line: line_behind(&source, "int main(")?,
        source,
        // A function that lldb also finds by its name: it doesn't find names with an ABI tag, such as `work`.
        function: format!("part_{}::Circle::area", UNITS / 2),
    })
}

fn compile_all(root: &Path) -> anyhow::Result<()> {
    let mut names: Vec<String> = (0..UNITS).map(|unit| format!("part_{unit}")).collect();
    names.push("main".to_owned());
    let next = AtomicUsize::new(0);
    let compile = || -> anyhow::Result<()> {
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let status = Command::new("g++")
                .current_dir(root)
                .args(["-g", "-O0", "-std=c++17", "-c"])
                .arg(root.join(format!("{name}.cpp")))
                .args(["-o", &format!("{name}.o")])
                .status()
                .context("no g++")?;
            if !status.success() {
                bail!("{name}.cpp did not compile");
            }
        }
        Ok(())
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(compile)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| match worker.join() {
                Ok(result) => result,
                Err(_) => bail!("a worker panicked"),
            })
    })?;
    let status = Command::new("g++")
        .current_dir(root)
        .args(names.iter().map(|name| format!("{name}.o")))
        .args(["-o", "large"])
        .status()?;
    if !status.success() {
        bail!("the C++ program did not link");
    }
    for name in &names {
        std::fs::remove_file(root.join(format!("{name}.o"))).ok();
    }
    Ok(())
}

fn main_text() -> String {
    let mut text = "#include <cstdio>\n#include <string>\n".to_owned();
    for unit in 0..UNITS {
        writeln!(text, "namespace part_{unit} {{ std::string work(int); }}").ok();
    }
    text.push_str("int main(int argc, char **) {\n    std::string all;\n");
    for unit in 0..UNITS {
        writeln!(text, "    all += part_{unit}::work(argc);").ok();
    }
    text.push_str("    std::printf(\"%zu\\n\", all.size());\n    return 0;\n}\n");
    text
}

/// A typical unit: types and templates of its own, and much of the standard library.
fn unit_text(unit: usize) -> String {
    let mut text = String::new();
    for header in [
        "algorithm",
        "chrono",
        "functional",
        "iostream",
        "map",
        "memory",
        "numeric",
        "optional",
        "regex",
        "set",
        "string",
        "thread",
        "unordered_map",
        "variant",
        "vector",
    ] {
        writeln!(text, "#include <{header}>").ok();
    }
    writeln!(text, "namespace part_{unit} {{").ok();
    text.push_str(UNIT);
    text.push_str("}\n");
    text
}

const UNIT: &str = r#"
struct Price { long cents; bool operator<(const Price &other) const { return cents < other.cents; } };
struct Item { std::string name; Price price; std::vector<std::string> tags; };
using Choice = std::variant<int, std::string, Item, std::vector<Price>>;

template <typename Key, typename Value> class Store {
    std::map<Key, std::vector<Value>> ordered;
    std::unordered_map<std::string, std::shared_ptr<Value>> named;
public:
    template <typename Make> void add(Key key, const std::string &name, Make make) {
        auto value = std::make_shared<Value>(make(name));
        ordered[key].push_back(*value);
        named.emplace(name, value);
    }
    std::optional<Value> find(const std::string &name) const {
        auto found = named.find(name);
        if (found == named.end()) return std::nullopt;
        return *found->second;
    }
    template <typename Result> Result fold(Result start, std::function<Result(Result, const Value &)> with) const {
        for (const auto &[key, values] : ordered)
            for (const auto &value : values) start = with(start, value);
        return start;
    }
};

struct Shape { virtual ~Shape() = default; virtual double area() const = 0; };
struct Square : Shape { double side = 1; double area() const override { return side * side; } };
struct Circle : Shape { double radius = 1; double area() const override { return 3 * radius * radius; } };

std::string work(int count) {
    Store<int, Item> items;
    Store<Price, Choice> choices;
    for (int i = 0; i < count; i++) {
        items.add(i, "item " + std::to_string(i), [&](const std::string &name) {
            return Item{name, Price{i * 100L}, {"a", "b"}};
        });
        choices.add(Price{i}, "choice", [&](const std::string &name) { return Choice{name}; });
    }
    std::vector<std::unique_ptr<Shape>> shapes;
    shapes.push_back(std::make_unique<Square>());
    shapes.push_back(std::make_unique<Circle>());
    std::sort(shapes.begin(), shapes.end(), [](const auto &a, const auto &b) { return a->area() < b->area(); });
    std::set<Price> prices;
    auto total = items.fold<long>(0, [&](long sum, const Item &item) {
        prices.insert(item.price);
        return sum + item.price.cents;
    });
    std::regex pattern("item ([0-9]+)");
    std::smatch match;
    auto found = items.find("item 0");
    std::string name = found ? found->name : "";
    if (std::regex_search(name, match, pattern)) total += match.size();
    return name + std::to_string(total) + std::to_string(prices.size());
}
"#;
