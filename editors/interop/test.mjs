// Whole sessions driven by the client that adapter authors test with.

import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { Session, compile, fixture, listen, marked } from './session.mjs';

const timeout = 60_000;
const source = fixture('tour.c');
const transcript = 'Cairo: 31.8, hot\nRome: 20.2, mild\nOslo: 0.5, cold\n3 of 3 towns visited\n';

/** From launch to the end of the tour, by way of a breakpoint, each kind of step and a look at the values. */
async function tour(session) {
  const town = { path: source, line: marked('tour.c', 'town') };
  await session.hitBreakpoint({ program: compile('tour.c') }, town);

  const { threads } = (await session.threadsRequest()).body;
  assert.equal(threads.length, 1, 'the tour has one thread');
  const threadId = threads[0].id;

  let [top] = (await session.stackTraceRequest({ threadId })).body.stackFrames;
  assert.match(top.name, /main/);
  assert.equal(top.source.path, source);

  const locals = await session.locals(top);
  const first = await session.children(locals.town);
  assert.match(first.name.value ?? '', /Cairo/, 'a char array is shown as text');
  assert.match(first.weather.value, /COLD/, 'an enumerator is shown by name');
  const celsius = await session.children(first.celsius);
  assert.deepEqual(Object.values(celsius).map((item) => Number(item.value)), [31, 35.5, 29]);
  const second = await session.children(first.next);
  assert.match(second.name.value ?? '', /Rome/, 'a pointer leads to what it points at');

  let frames = await session.until('step', { path: source }, session.stepInRequest({ threadId }));
  assert.match(frames[0].name, /mean/);
  assert.match(frames[1].name, /main/);
  const count = await session.evaluateRequest({ expression: 'count', frameId: frames[0].id, context: 'watch' });
  assert.equal(count.body.result, '3');

  const inside = frames[0].line;
  frames = await session.until('step', { path: source }, session.nextRequest({ threadId }));
  assert.match(frames[0].name, /mean/);
  assert.ok(frames[0].line > inside, `next went from line ${inside} to ${frames[0].line}`);

  frames = await session.until('step', { path: source }, session.stepOutRequest({ threadId }));
  assert.match(frames[0].name, /main/);
  if (frames[0].line === town.line) {
    // Back in the middle of the line that called; its rest is one step.
    frames = await session.until('step', { path: source }, session.nextRequest({ threadId }));
  }
  assert.equal(frames[0].line, town.line + 1);
  const average = await session.evaluateRequest({ expression: 'average', frameId: frames[0].id, context: 'hover' });
  assert.match(average.body.result, /^31\.8333/);

  frames = await session.until('breakpoint', town, session.continueRequest({ threadId }));
  const again = await session.children((await session.locals(frames[0])).town);
  assert.match(again.name.value ?? '', /Rome/, 'the second turn is about the second town');

  await session.setBreakpointsRequest({ source: { path: source }, breakpoints: [] });
  const [exited] = await Promise.all([
    session.waitForEvent('exited'),
    session.waitForEvent('terminated'),
    session.continueRequest({ threadId }),
  ]);
  assert.equal(exited.body.exitCode, 3);
  assert.equal(session.stdout, transcript);
  const order = session.seen.filter((event) => event === 'exited' || event === 'terminated');
  assert.deepEqual(order, ['exited', 'terminated']);
}

test('a session on stdio goes from launch to the exit code', { timeout }, async () => {
  const session = new Session();
  await session.start();
  try {
    await tour(session);
    await session.disconnectRequest();
    assert.equal(await session.gone(), 0, 'the adapter ends by itself');
  } finally {
    session.stopAdapter();
  }
});

test('a session without breakpoints runs to the end', { timeout }, async () => {
  const session = new Session();
  await session.start();
  try {
    const [exited] = await Promise.all([
      session.waitForEvent('exited'),
      session.waitForEvent('terminated'),
      session.configurationSequence(),
      session.launch({ program: compile('exit.c'), args: ['42'] }),
    ]);
    assert.equal(exited.body.exitCode, 42);
    assert.match(session.stdout, /to stdout\nfarewell\n/);
    assert.ok(!session.seen.includes('stopped'), 'nothing made it stop');
  } finally {
    await session.stop();
  }
});

test('a program that is not there fails with a sentence that names it', { timeout }, async () => {
  const session = new Session();
  await session.start();
  try {
    // Some adapters read the program only when configuration is over.
    session.once('initialized', () => session.configurationDoneRequest().catch(() => {}));
    await session.initializeRequest();
    const answer = await new Promise((resolve) => session.doSend('launch', { program: '/no/such/program' }, resolve));
    assert.equal(answer.success, false);
    assert.match(answer.body.error.format, /\/no\/such\/program/);
  } finally {
    await session.stop();
  }
});

test('a running program is paused, and killed by disconnect', { timeout }, async () => {
  const session = new Session();
  await session.start();
  try {
    const awake = session.assertOutput('stdout', 'awake');
    const begun = session.waitForEvent('process');
    await Promise.all([
      session.configurationSequence(),
      session.launch({ program: compile('sleepless.c') }),
      awake,
    ]);
    const { systemProcessId } = (await begun).body;
    assert.ok(process.kill(systemProcessId, 0), 'it runs');

    const stopped = session.waitForEvent('stopped');
    const { threads } = (await session.threadsRequest()).body;
    await session.pauseRequest({ threadId: threads[0].id });
    const { body } = await stopped;
    const { stackFrames } = (await session.stackTraceRequest({ threadId: body.threadId })).body;
    // It spins, or has yet to come back from telling that it is awake.
    assert.ok(stackFrames.some((frame) => /\bmain\b/.test(frame.name)), JSON.stringify(stackFrames));

    await session.disconnectRequest();
    await session.gone();
    assert.throws(() => process.kill(systemProcessId, 0), { code: 'ESRCH' }, 'nothing is left behind');
  } finally {
    session.stopAdapter();
  }
});

test('every pass of every thread is a stop, as the client counts them', { timeout }, async () => {
  const session = new Session();
  await session.start();
  try {
    const hits = new Map();
    session.on('stopped', ({ body }) => {
      hits.set(body.threadId, (hits.get(body.threadId) ?? 0) + 1);
      // Threads that stopped at the same time are told of together, the first speaking for all.
      if (body.allThreadsStopped) setImmediate(() => session.continueRequest({ threadId: body.threadId }).catch(() => {}));
    });
    const line = marked('threads.c', 'hit');
    session.once('initialized', async () => {
      await session.setBreakpointsRequest({ source: { path: fixture('threads.c') }, breakpoints: [{ line }] });
      await session.configurationDoneRequest();
    });
    const terminated = session.waitForEvent('terminated');
    await session.initializeRequest();
    await Promise.all([session.launchRequest({ program: compile('threads.c') }), terminated]);
    assert.equal(session.stdout, '100 hits, 100 counted\n');
    assert.deepEqual([...hits.values()], [25, 25, 25, 25]);
  } finally {
    await session.stop();
  }
});

test('two sessions on one socket do not disturb each other', { timeout }, async () => {
  const { port, close, lost } = await listen();
  const sessions = [new Session(), new Session()];
  try {
    await Promise.all(sessions.map((session) => session.start(port)));
    const tours = await Promise.race([Promise.allSettled(sessions.map((session) => tour(session))), lost]);
    for (const { reason } of tours) if (reason) throw reason;
    await Promise.all(sessions.map((session) => session.disconnectRequest()));
  } finally {
    for (const session of sessions) session.stopAdapter();
    await close();
  }
});
