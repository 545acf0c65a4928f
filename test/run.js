/** `npm test`: runs vitest, and with `--slow` prints after its report where the time has gone. */
import { argv } from 'node:process'

const at = argv.indexOf('--slow')
if (at > 0) argv.splice(at, 1, '--reporter=default', '--reporter=./test/slowest.ts')
argv.splice(2, 0, 'run')
await import('../node_modules/vitest/vitest.mjs')
