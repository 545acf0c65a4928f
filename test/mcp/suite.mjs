/** Runs the conformance suite several times in one process: loading it takes as long as a run. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { format } from 'node:util'

/** The state of concurrent runs: where their output goes, and how they end. */
const runs = new AsyncLocalStorage()
const suite = import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js')

console.log = (...said) => runs.getStore()?.lines.push(format(...said))
process.exit = () => runs.getStore()?.end()

let count = 0
// The suite reads its command line as soon as it is evaluated, so evaluations run one after the other.
let evaluated = Promise.resolve()

function run(args) {
  return new Promise(resolve => {
    const lines = []
    const store = { lines, end: () => resolve(lines.join('\n')) }
    evaluated = evaluated.then(() => {
      process.argv = [process.execPath, suite, ...args]
      return runs.run(store, () => import(`${suite}?${count++}`))
    })
  })
}

process.on('message', async ({ id, args }) => process.send({ id, output: await run(args) }))
