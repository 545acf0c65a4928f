/**
 * `npm test`: runs vitest. `--all` also runs what only CI does, `--rest` runs that alone, with the files that are named; `--slow` reports where
 * the time went.
 */
import { argv } from 'node:process'
import { filesOf, leftOut } from './left-out.js'

const take = flag => {
  const at = argv.indexOf(flag)
  return at > 0 && argv.splice(at, 1).length > 0
}

if (take('--slow')) argv.push('--reporter=default', '--reporter=./test/slowest.ts')
const files = Object.keys(leftOut).flatMap(filesOf)
const isAll = take('--all') || argv.slice(2).some(word => !word.startsWith('-'))
if (take('--rest')) argv.push(...files)
else if (!isAll) {
  argv.push(...files.map(file => `--exclude=${file.replace(/\/$/, '/**')}`))
  const left = new Intl.ListFormat('en-GB').format(Object.values(leftOut))
  process.on('exit', () => console.log(`Not tested: ${left}. They take minutes; npm test -- --all and CI run them.`))
}
argv.splice(2, 0, 'run')
await import('../node_modules/vitest/vitest.mjs')
