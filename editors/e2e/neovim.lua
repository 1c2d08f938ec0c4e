-- A debugging session from Neovim, with the adapter and the first configuration that a user gives to nvim-dap. What nvim-dap does with them (its doc/dap.txt:
-- `dap-adapter`, `dap-configuration`) is done here: functions are called for their values, variables replaced, the rest is sent to the adapter.

local report = assert(os.getenv('DAPPLE_REPORT'))
local program, source = os.getenv('DAPPLE_PROGRAM'), os.getenv('DAPPLE_SOURCE')

local function note(text)
  local file = assert(io.open(report, 'a'))
  file:write(text, '\n')
  file:close()
end

local function check(condition, text)
  if not condition then error(text, 0) end
end

-- nvim-dap's place.
local dap = { adapters = {}, configurations = {} }
package.loaded['dap'] = dap
local asked
vim.fn.input = function(prompt)
  asked = prompt
  return program
end
if not vim.keymap then vim.keymap = { set = function() end } end

local function value_of(value)
  if type(value) == 'function' then value = value() end
  if type(value) == 'string' then value = value:gsub('%${workspaceFolder}', vim.fn.getcwd()) end
  return value
end

-- The session: an adapter's process, and messages to and from it.
local Session = {}
Session.__index = Session

function Session.start(adapter)
  check(adapter.type == 'executable', 'the adapter is no executable')
  local session = setmetatable({ seq = 0, answers = {}, events = {}, buffer = '' }, Session)
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
      self.answers[message.request_seq] = message
    elseif message.type == 'event' then
      table.insert(self.events, message)
    end
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

function Session:request(command, arguments)
  return self:answer(command, self:send(command, arguments))
end

function Session:event(name)
  return self:wait('the event ' .. name, function()
    for index, event in ipairs(self.events) do
      if event.event == name then return table.remove(self.events, index) end
    end
  end).body or {}
end

local function marked(mark)
  local number = 0
  for line in io.lines(source) do
    number = number + 1
    if line:sub(-#mark) == mark then return number end
  end
end

local function run()
  dofile(os.getenv('DAPPLE_CONFIGURATION'))
  note('the configuration is loaded')
  for _, language in ipairs({ 'rust', 'c', 'cpp' }) do
    check(dap.configurations[language], 'there is no configuration for ' .. language)
  end
  local configuration = {}
  for name, value in pairs(dap.configurations.rust[1]) do
    configuration[name] = value_of(value)
  end
  check(asked == 'Program: ', 'the program is not asked for')
  local session = Session.start(assert(dap.adapters[configuration.type], 'its adapter is not there'))
  session:request('initialize', { adapterID = 'nvim-dap', clientID = 'neovim', pathFormat = 'path' })
  local launch = session:send(configuration.request, configuration)
  session:event('initialized')
  local line = marked('// stop: order')
  session:request('setBreakpoints', { source = { path = source }, breakpoints = { { line = line } } })
  session:request('configurationDone')
  session:answer('launch', launch)
  local thread = session:event('stopped').threadId
  local frame = session:request('stackTrace', { threadId = thread }).stackFrames[1]
  check(frame.line == line, 'it stops elsewhere: ' .. vim.inspect(frame))
  vim.cmd('edit ' .. vim.fn.fnameescape(frame.source.path))
  check(vim.fn.getline(frame.line):find('stop: order', 1, true), 'the source is another')
  local value = session:request('evaluate', { expression = 'customer', frameId = frame.id, context = 'hover' })
  check(value.result == '"Ada"', 'customer is ' .. value.result)
  session:request('next', { threadId = thread })
  session:event('stopped')
  frame = session:request('stackTrace', { threadId = thread }).stackFrames[1]
  check(frame.line == line + 1, 'a step leads elsewhere: ' .. vim.inspect(frame))
  session:request('setBreakpoints', { source = { path = source }, breakpoints = {} })
  session:request('continue', { threadId = thread })
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
  session:send('disconnect')
  session:wait('the end of the adapter', function() return session.code end)
  check(session.code == 0, 'the adapter ends with ' .. session.code)
end

local worked, failure = pcall(run)
note(worked and 'passed' or 'failed: ' .. tostring(failure))
vim.cmd('qall!')
