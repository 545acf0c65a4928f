/** A miss as a terminal shows it, and what to do about it. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import type { LoadedConfig } from '../config/load.js'
import { missText as textOf } from '../core/miss-text.js'
import { quoted } from '../journal/index.js'
import type { Miss } from '../recordings/index.js'
import { type Colors, harmless } from './output.js'

export const missText = (miss: Miss, { red, dim }: Colors): string => textOf(miss, { title: red, faint: dim, harmless })

/** What to do about misses below `standin exec`: with the folder in full, since it may be another one than was meant, and whether there is anything in it. */
export function missAdvice({ config, dir }: LoadedConfig, command: readonly string[], { cyan }: Colors): string {
  const { recordings, upstream } = config
  const folder = path.resolve(dir, recordings.dir)
  const state = isEmpty(folder) ? `${folder} has no recordings` : `The recordings are in ${folder}`
  const record = [
    'standin exec --mode record',
    ...(upstream.baseUrl === '' ? ['--upstream URL'] : []),
    '--',
    // To be copied: what has a blank or a sign of the shell in it stands in quotes.
    ...command.map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word))),
  ]
  const emulate = recordings.onMiss === 'fail' ? '\n  Or have answers made up: --on-miss emulate.' : ''
  return cyan(`→ ${harmless(state)}. Record what is missing:\n    ${harmless(record.join(' '))}${emulate}`)
}

function isEmpty(folder: string): boolean {
  try {
    return !readdirSync(folder, { recursive: true }).some(name => String(name).endsWith('.yaml'))
  } catch {
    return true
  }
}
