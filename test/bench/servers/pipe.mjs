/** The shortest proxy with keep-alive: http.request and pipe. argv: port, and the port of the upstream */
import http from 'node:http'

const [port, upstream] = process.argv.slice(2).map(Number)
const agent = new http.Agent({ keepAlive: true })

http
  .createServer((request, response) => {
    const { method, url: path, headers } = request
    const forwarded = http.request({ host: '127.0.0.1', port: upstream, method, path, headers, agent }, answer => {
      response.writeHead(answer.statusCode, answer.headers)
      answer.pipe(response)
    })
    request.pipe(forwarded)
  })
  .listen(port, '127.0.0.1')
