/** `npm test`: runs vitest. `--all` also runs what only CI does; `--slow` reports where the time went. */
import { argv } from 'node:process'

/** Takes long, and is rarely what breaks. */
const onlyInCi = {
  'test/mcp/conformance.test.ts': 'the conformance suite of MCP',
  'test/package/packed.test.ts': 'the commands on the pages of docs/, in a packed package',
  'test/dashboard/{activity,answers,people,try}.test.ts': "the dashboard's long stories",
}

const take = flag => {
  const at = argv.indexOf(flag)
  return at > 0 && argv.splice(at, 1).length > 0
}

if (take('--slow')) argv.push('--reporter=default', '--reporter=./test/slowest.ts')
const isAll = take('--all') || argv.slice(2).some(word => !word.startsWith('-'))
if (!isAll) {
  argv.push(...Object.keys(onlyInCi).map(files => `--exclude=${files}`))
  const left = new Intl.ListFormat('en-GB').format(Object.values(onlyInCi))
  process.on('exit', () => console.log(`Not tested: ${left}. They take minutes; npm test -- --all and CI run them.`))
}
argv.splice(2, 0, 'run')
await import('../node_modules/vitest/vitest.mjs')
