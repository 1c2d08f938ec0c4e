//! Data breakpoints (watchpoints): which data can be watched, and setting them.

use super::variables::by_name::{Child, child};
use crate::adapter::Adapter;
use crate::breakpoints::Wanted;
use crate::data_breakpoints::{Asked, Mode, number};
use crate::to_dap;
use dapple_dap::server::{Context, Failure, Outbox};
use dapple_dap::types::{
    Breakpoint, BreakpointReason, DataBreakpointAccessType, DataBreakpointInfoArguments,
    DataBreakpointInfoResponse, SetDataBreakpointsArguments, SetDataBreakpointsResponse,
};
use dapple_engine::session::BreakpointOptions;
use dapple_engine::session::watching::{DataBreakpoint, DataPlace, DataTarget};
use dapple_engine::{Address, Error};

/// Says whether data can be watched. If it can't, the response has no `dataId`, and the reason as its description.
pub fn data_breakpoint_info(
    adapter: &mut Adapter,
    arguments: DataBreakpointInfoArguments,
    _: &mut Context,
) -> Result<DataBreakpointInfoResponse, Failure> {
    let refused = |why: String| Ok(DataBreakpointInfoResponse::new(None, why));
    let mode = match Mode::named(arguments.mode.as_deref()) {
        Ok(mode) => mode,
        Err(why) => return refused(why),
    };
    let place = match place(adapter, &arguments)? {
        Ok(place) => place,
        Err(why) => return refused(why),
    };
    let length = arguments
        .bytes
        .map(|bytes| u64::try_from(bytes).unwrap_or(0));
    let debuggee = adapter.partly_stopped()?;
    let process = debuggee.process().pid;
    let target = match debuggee.data_target(place, length) {
        Ok(target) => target,
        Err(Error::Expression(why)) => return refused(why),
        Err(error) => return Err(to_dap::failure(&error)),
    };
    let description = describe(&target);
    let can_persist = target.persistent.is_some();
    let handle = adapter.data.handle(target, mode, process);
    Ok(DataBreakpointInfoResponse::new(Some(handle), description)
        .with_access_types(vec![
            DataBreakpointAccessType::Read,
            DataBreakpointAccessType::Write,
            DataBreakpointAccessType::ReadWrite,
        ])
        .with_can_persist(can_persist))
}

/// The data that the client names; the inner error says why there is none.
pub(super) fn place(
    adapter: &mut Adapter,
    arguments: &DataBreakpointInfoArguments,
) -> Result<Result<DataPlace, String>, Failure> {
    let name = arguments.name.as_str();
    if let Some(container) = arguments.variables_reference.filter(|id| *id != 0) {
        return Ok(match child(adapter, container, name)? {
            Ok((Child::Value(found), _)) => Ok(DataPlace::Value(found.0)),
            Ok((Child::Register(_), _)) => Err(format!(
                "`{name}` is a register, and only memory can be watched"
            )),
            Err(why) => Err(why),
        });
    }
    if arguments.as_address == Some(true) {
        let address = number(name).map(|address| DataPlace::Address(Address(address)));
        return Ok(address
            .ok_or_else(|| format!("`{name}` is no address; write 0x1234, or a decimal number")));
    }
    let frame = match arguments.frame_id {
        Some(id) => Some(super::stack_trace::frame(adapter, id)?),
        None => None,
    };
    Ok(Ok(DataPlace::Expression(name.to_owned(), frame)))
}

/// The description that the client shows: what would be watched, its size, and for how long.
fn describe(target: &DataTarget) -> String {
    let DataTarget {
        name,
        address,
        length,
        type_name,
        ..
    } = target;
    let bytes = match length {
        1 => "1 byte".to_owned(),
        length => format!("{length} bytes"),
    };
    let place = match (target.value.is_some(), name == &address.to_string()) {
        (_, true) => format!("{bytes} at {address}"),
        (true, false) => format!("{name}: {type_name} ({bytes} at {address})"),
        (false, false) => format!("{bytes} at {name} ({address})"),
    };
    match target.frame {
        Some(_) if target.moves => format!(
            "{place}, until its function returns; the optimiser keeps it elsewhere in other parts of the function, which are not watched"
        ),
        Some(_) => format!("{place}, until its function returns"),
        None => place,
    }
}

/// Replaces all data breakpoints.
pub fn set_data_breakpoints(
    adapter: &mut Adapter,
    arguments: SetDataBreakpointsArguments,
    _: &mut Context,
) -> Result<SetDataBreakpointsResponse, Failure> {
    let wanted = arguments.breakpoints.iter().map(|wanted| Asked {
        data_id: wanted.data_id.clone(),
        access: wanted.access_type.clone(),
        options: BreakpointOptions {
            condition: wanted.condition.clone(),
            hits: wanted.hit_condition.clone(),
            log: None,
        },
    });
    let wanted = adapter
        .data
        .replace(wanted.collect(), &mut adapter.breakpoints);
    Ok(SetDataBreakpointsResponse::new(arm(adapter, &wanted)?))
}

/// Sets the data breakpoints that were requested before the launch, and reports their states as events.
pub fn set_early(adapter: &mut Adapter, outbox: &Outbox) -> Result<(), Failure> {
    use dapple_dap::types::{BreakpointEvent, BreakpointEventBody, BreakpointEventReason};
    let wanted = adapter.data.wanted().to_vec();
    if wanted.is_empty() {
        return Ok(());
    }
    for answer in arm(adapter, &wanted)? {
        let body = BreakpointEventBody::new(BreakpointEventReason::Changed, answer);
        outbox.event::<BreakpointEvent>(body);
    }
    Ok(())
}

fn arm(adapter: &mut Adapter, wanted: &[Wanted<Asked>]) -> Result<Vec<Breakpoint>, Failure> {
    let pending = |why: &str| {
        let answer = |wanted: &Wanted<Asked>| {
            to_dap::unverified(why, BreakpointReason::Pending).with_id(wanted.id)
        };
        Ok(wanted.iter().map(answer).collect())
    };
    let debuggee = adapter.debuggee.as_ref();
    let process = debuggee.map(|debuggee| debuggee.process().pid);
    let read = |wanted: &Wanted<Asked>| {
        adapter
            .data
            .read(&wanted.what.data_id, wanted.what.access.as_ref(), process)
    };
    let read: Vec<_> = wanted.iter().map(read).collect();
    let good = read.iter().zip(wanted).filter_map(|(read, wanted)| {
        let (data, access) = read.as_ref().ok()?;
        Some(DataBreakpoint {
            data: data.clone(),
            access: *access,
            options: wanted.what.options.clone(),
        })
    });
    let good = good.collect();
    let states = match adapter.if_debugged(|debuggee| debuggee.set_data_breakpoints(good))? {
        Ok(states) => states,
        Err(why) => return pending(&why),
    };
    let mut states = states.into_iter();
    let mut answers = Vec::with_capacity(wanted.len());
    for (wanted, read) in wanted.iter().zip(read) {
        let state = match read {
            Ok(_) => states.next(),
            Err(why) => {
                answers.push(to_dap::unverified(&why, BreakpointReason::Failed).with_id(wanted.id));
                continue;
            }
        };
        if let Some(state) = state {
            adapter.breakpoints.bind(state.id, wanted.id);
            answers.push(to_dap::data_breakpoint(&state, wanted.id));
        }
    }
    Ok(answers)
}
