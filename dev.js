/**
 * `npm run dev`: starts the built development server, builds again when a source file has changed, and then starts it
 * anew. In JavaScript, and with the bundler loaded when it is needed, so that the server starts at once.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'

/** The exit code of Standin for invalid files, flags or environment variables. */
const BAD_INPUT = 2

let server
let timer
let building = Promise.resolve()
const isRunning = () => server.exitCode === null && server.signalCode === null

function start() {
  const isFirst = server === undefined
  const child = spawn(process.execPath, ['dist/cli.js', 'dev', ...process.argv.slice(2)], { stdio: 'inherit' })
  child.once('exit', code => {
    // After help, a wrong flag or a mistake in the configuration, no change of the source would help.
    if (isFirst && (code === 0 || code === BAD_INPUT)) process.exit(code)
    if (code) console.error('Standin is not running, and starts again after a change in src/. Ctrl-C ends this.')
  })
  return child
}

async function rebuild() {
  try {
    const [{ build }, { default: config }] = await Promise.all([import('rolldown'), import('./rolldown.config.ts')])
    await build(config)
  } catch (error) {
    // The server that runs goes on with what was built before.
    return console.error(error.message)
  }
  if (isRunning()) {
    server.removeAllListeners('exit')
    server.kill()
    await once(server, 'exit')
  }
  server = start()
}

server = start()
watch('src', { recursive: true }, () => {
  clearTimeout(timer)
  timer = setTimeout(() => {
    building = building.then(rebuild)
  }, 100)
})
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    // A server that could not start waits for a change of the source, but not when it is stopped.
    if (!isRunning()) process.exit(server.exitCode ?? 1)
    server.removeAllListeners('exit')
    server.once('exit', code => process.exit(code ?? 0))
    // The terminal sends Ctrl-C to both.
    if (signal === 'SIGTERM') server.kill(signal)
  })
}
