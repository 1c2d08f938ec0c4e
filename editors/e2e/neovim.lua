-- Debugging sessions from Neovim, with the adapter, the configurations and the commands that a user gives to nvim-dap. What nvim-dap does with them (its doc/dap.txt:
-- `dap-adapter`, `dap-configuration`) is done here: functions are called for their values, variables replaced, the rest is sent to the adapter.

local report = assert(os.getenv('DAPPLE_REPORT'))
local program, source = os.getenv('DAPPLE_PROGRAM'), os.getenv('DAPPLE_SOURCE')
local recorded, recorded_source = os.getenv('DAPPLE_RECORDED'), os.getenv('DAPPLE_RECORDED_SOURCE')

local function note(text)
  local file = assert(io.open(report, 'a'))
  file:write(text, '\n')
  file:close()
end

local function check(condition, text)
  if not condition then error(text, 0) end
end

-- The session: an adapter's process, and messages to and from it.
local Session = {}
Session.__index = Session

function Session.start(adapter)
  check(adapter.type == 'executable', 'the adapter is no executable')
  local session = setmetatable({ seq = 0, answers = {}, callbacks = {}, events = {}, buffer = '', capabilities = {} }, Session)
  session.input, session.output = vim.loop.new_pipe(false), vim.loop.new_pipe(false)
  session.process = vim.loop.spawn(
    adapter.command,
    { args = adapter.args, stdio = { session.input, session.output, nil } },
    function(code) session.code = code end
  )
  check(session.process, adapter.command .. ' does not start')
  session.output:read_start(function(_, data)
    session.buffer = session.buffer .. (data or '')
  end)
  return session
end

function Session:take()
  while true do
    local _, head, length = self.buffer:find('^Content%-Length: (%d+)\r\n\r\n')
    if not head or #self.buffer < head + length then return end
    local message = vim.json.decode(self.buffer:sub(head + 1, head + length))
    self.buffer = self.buffer:sub(head + length + 1)
    if message.type == 'response' then
      self:answered(message)
    elseif message.type == 'event' then
      self:happened(message)
      table.insert(self.events, message)
    end
  end
end

function Session:answered(message)
  local callback = self.callbacks[message.request_seq]
  self.answers[message.request_seq] = message
  if not callback then return end
  if message.success then
    callback(nil, message.body)
  else
    callback({ message = message.message, body = message.body }, nil)
  end
end

function Session:happened(event)
  if event.event == 'capabilities' then
    self.capabilities = vim.tbl_extend('force', self.capabilities, event.body.capabilities)
  elseif event.event == 'stopped' and self.stopped_thread_id then
    -- As nvim-dap does by default (`auto_continue_if_many_stopped`).
    self:send('continue', { threadId = event.body.threadId })
  elseif event.event == 'stopped' then
    self.stopped_thread_id = event.body.threadId
  end
end

function Session:wait(what, found)
  local result
  vim.wait(20000, function()
    self:take()
    result = found()
    return result
  end, 5)
  check(result, what .. ' did not come')
  note(what)
  return result
end

function Session:send(command, arguments)
  self.seq = self.seq + 1
  local text = vim.json.encode({
    seq = self.seq, type = 'request', command = command, arguments = arguments or vim.empty_dict(),
  })
  self.input:write(('Content-Length: %d\r\n\r\n%s'):format(#text, text))
  return self.seq
end

function Session:answer(command, seq)
  local answer = self:wait('the answer to ' .. command, function() return self.answers[seq] end)
  check(answer.success, ('%s: %s'):format(command, answer.message))
  return answer.body
end

-- As nvim-dap's, where there is a callback; else waits for the answer.
function Session:request(command, arguments, callback)
  local seq = self:send(command, arguments)
  if not callback then return self:answer(command, seq) end
  self.callbacks[seq] = callback
end

-- A request that lets the program run.
function Session:step(command)
  local thread = self.stopped_thread_id
  self.stopped_thread_id = nil
  self:request(command, { threadId = thread })
end

function Session:event(name)
  return self:wait('the event ' .. name, function()
    for index, event in ipairs(self.events) do
      if event.event == name then return table.remove(self.events, index) end
    end
  end).body or {}
end

-- Waits for a stop. The innermost frame in this source is the current one.
function Session:stopped(reason, path)
  local stop = self:event('stopped')
  check(stop.reason == reason, ('it stops by %s, not %s'):format(stop.reason, reason))
  self.current_frame = nil
  for _, frame in ipairs(self:request('stackTrace', { threadId = stop.threadId }).stackFrames) do
    if frame.source and frame.source.path == path then
      self.current_frame = self.current_frame or frame
    end
  end
  return self.current_frame
end

function Session:value(expression)
  return self:request('evaluate', { expression = expression, frameId = self.current_frame.id, context = 'hover' }).result
end

function Session:finish()
  self:send('disconnect')
  self:wait('the end of the adapter', function() return self.code end)
  check(self.code == 0, 'the adapter ends with ' .. self.code)
end

-- nvim-dap's place.
local current
local dap = { adapters = {}, configurations = {} }
package.loaded['dap'] = dap
if not vim.keymap then vim.keymap = { set = function() end } end

function dap.session() return current end

local function backwards(command)
  check(current.capabilities.supportsStepBack, 'the adapter does not step backwards')
  current:step(command)
end

function dap.step_back() backwards('stepBack') end

function dap.reverse_continue() backwards('reverseContinue') end

local answered_input, asked
vim.fn.input = function(prompt)
  asked = prompt
  return answered_input
end

local notified = {}
vim.notify = function(text) table.insert(notified, text) end

local function value_of(value)
  if type(value) == 'function' then value = value() end
  if type(value) == 'string' then value = value:gsub('%${workspaceFolder}', vim.fn.getcwd()) end
  return value
end

-- Starts the first configuration that is accepted, with a program.
local function launch(path, accepts)
  answered_input, asked = path, nil
  local configuration = {}
  for _, candidate in ipairs(dap.configurations.rust) do
    if candidate.request == 'launch' and accepts(candidate) then
      for name, value in pairs(candidate) do
        configuration[name] = value_of(value)
      end
      break
    end
  end
  check(asked == 'Program: ', 'the program is not asked for')
  current = Session.start(assert(dap.adapters[configuration.type], 'its adapter is not there'))
  current:request('initialize', { adapterID = 'nvim-dap', clientID = 'neovim', pathFormat = 'path' })
  local seq = current:send(configuration.request, configuration)
  current:event('initialized')
  return function()
    current:request('configurationDone')
    current:answer('launch', seq)
  end
end

local function line_with(path, text)
  local number = 0
  for line in io.lines(path) do
    number = number + 1
    if line:find(text, 1, true) then return number end
  end
  error(path .. ' has no line with ' .. text, 0)
end

local function run()
  local configured = launch(program, function() return true end)
  local session = current
  local line = line_with(source, '// stop: order')
  session:request('setBreakpoints', { source = { path = source }, breakpoints = { { line = line } } })
  configured()
  local frame = session:stopped('breakpoint', source)
  check(frame.line == line, 'it stops elsewhere: ' .. vim.inspect(frame))
  vim.cmd('edit ' .. vim.fn.fnameescape(frame.source.path))
  check(vim.fn.getline(frame.line):find('stop: order', 1, true), 'the source is another')
  check(session:value('customer') == '"Ada"', 'customer is ' .. session:value('customer'))
  session:step('next')
  frame = session:stopped('step', source)
  check(frame.line == line + 1, 'a step leads elsewhere: ' .. vim.inspect(frame))
  check(not session.capabilities.supportsStepBack, 'it can be run backwards without being recorded')
  session:request('setBreakpoints', { source = { path = source }, breakpoints = {} })
  session:step('continue')
  check(session:event('exited').exitCode == 3, 'it ends otherwise')
  session:event('terminated')
  local text = ''
  for _, event in ipairs(session.events) do
    if event.event == 'output' and event.body.category == 'console' then
      check(not event.body.output:find('not known', 1, true), event.body.output)
    elseif event.event == 'output' then
      text = text .. event.body.output
    end
  end
  check(text:find('3 orders served', 1, true), 'the program\'s output is not there: ' .. text)
  session:finish()
end

-- Runs a command, and waits for what it tells.
local function command(text)
  notified = {}
  vim.cmd(text)
  return current:wait(text, function() return notified[1] end)
end

-- The entry of the quickfix list that is called so.
local function quickfix(name)
  for _, item in ipairs(vim.fn.getqflist()) do
    if item.text == name then return item, vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':p') end
  end
  error('the quickfix list has no ' .. name .. ': ' .. vim.inspect(vim.fn.getqflist()), 0)
end

local function run_backwards()
  local configured = launch(recorded, function(candidate) return candidate.record end)
  local session, path = current, recorded_source
  configured()
  local fails = line_with(path, 'assert(settings.limit')
  check(session:stopped('exception', path).line == fails, 'it fails elsewhere')
  vim.cmd('edit ' .. vim.fn.fnameescape(path))
  vim.fn.cursor(fails, vim.fn.getline(fails):find('limit'))
  local said = command('DappleWho')
  check(said:find('`settings.limit` changed from 10 to 0', 1, true), said)
  check(vim.fn.getqflist({ title = 1 }).title == said, 'the list has another title')
  local written = line_with(path, 'strcpy(settings.name')
  local item, file = quickfix('rename_to')
  check(item.lnum == written and file == path, vim.inspect({ item, file }))
  local before = command('DappleWho!')
  check(before:find('nothing has written it since the recording began', 1, true), before)
  -- Of what was found last, which is in the list still.
  vim.cmd('DappleGoTo')
  session:stopped('goto', path)
  check(session:value('settings.limit') == '0', 'it is not written there')
  dap.step_back()
  session:stopped('step', path)
  dap.reverse_continue()
  check(session:stopped('entry', path) == nil, 'the recording begins in main')
  local refused = command('DappleGoTo 99')
  check(refused:find('there is no bookmark 99', 1, true), refused)
  check(session.stopped_thread_id, 'the thread that is stopped is forgotten')
  check(command('DappleGoTo nowhere') ~= '', 'it goes nowhere')
  vim.cmd('DappleGoTo present')
  check(session:stopped('goto', path).line == fails, 'the present is elsewhere')
  check(command('DappleWho nothing'):find('nothing', 1, true), 'an unknown name is not refused')
  session:finish()
end

local function all()
  dofile(os.getenv('DAPPLE_CONFIGURATION'))
  note('the configuration is loaded')
  for _, language in ipairs({ 'rust', 'c', 'cpp' }) do
    check(dap.configurations[language], 'there is no configuration for ' .. language)
  end
  run()
  run_backwards()
end

local worked, failure = pcall(all)
note(worked and 'passed' or 'failed: ' .. tostring(failure))
vim.cmd('qall!')
