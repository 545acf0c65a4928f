/** `npm test`: runs vitest; with `--slow`, also reports where the time went. */
import { argv } from 'node:process'

const at = argv.indexOf('--slow')
if (at > 0) argv.splice(at, 1, '--reporter=default', '--reporter=./test/slowest.ts')
argv.splice(2, 0, 'run')
await import('../node_modules/vitest/vitest.mjs')
