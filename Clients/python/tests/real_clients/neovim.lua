-- Drives the server from Neovim's LSP client library: a command, a query, an error, a notification, an ordered end.
local heard, exit
local dispatchers = {
  notification = function(method, _) heard = method end,
  server_request = function() end,
  on_error = function(code, message) io.stdout:write('client error ' .. tostring(code) .. vim.inspect(message) .. '\n') end,
  on_exit = function(code) exit = code end,
}
local rpc = vim.lsp.rpc.start(os.getenv('GEOMODEL_SERVER'), {}, dispatchers)

local function request(method, params)
  local answer
  rpc.request(method, params, function(failure, result) answer = { failure = failure, result = result } end)
  assert(vim.wait(10000, function() return answer ~= nil end, 5), method .. ' was not answered')
  return answer
end

request('initialize', { processId = vim.loop.getpid() })
rpc.notify('initialized', vim.empty_dict())
request('map/create', { id = 'm1', title = 'Zürich' })
request('view/create', { id = 'v1', map = 'm1' })
request('state/observe', { paths = { '/views/v1/viewpoint' } })
request('view/setViewpoint', { view = 'v1', viewpoint = { type = 'scale', targetScale = 25000 } })
io.stdout:write('title ' .. request('map/get', { map = 'm1' }).result.title .. '\n')
io.stdout:write('error ' .. request('map/get', { map = 'none' }).failure.code .. '\n')
vim.wait(10000, function() return heard ~= nil end, 5)
io.stdout:write('heard ' .. tostring(heard) .. '\n')
request('shutdown', vim.empty_dict())
rpc.notify('exit', vim.empty_dict())
vim.wait(10000, function() return exit ~= nil end, 5)
io.stdout:write('exit ' .. tostring(exit) .. '\n')
