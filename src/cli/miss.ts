/** A miss as a terminal shows it. */
import { missText as textOf } from '../core/miss-text.js'
import type { Miss } from '../recordings/index.js'
import { type Colors, harmless } from './output.js'

export const missText = (miss: Miss, { red, dim }: Colors): string => textOf(miss, { title: red, faint: dim, harmless })
