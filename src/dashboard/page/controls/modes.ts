/** The modes, in the words of the page. */
import type { Mode } from './controls-client.js'

export interface ModeWords {
  readonly name: string
  readonly does: string
  /** What somebody should know before the live platform is asked. */
  readonly warns?: string
}

export const modeWords: Readonly<Record<Mode, ModeWords>> = {
  emulate: { name: 'Emulate', does: 'Answers are made here, from rules or made up. Nothing leaves this machine.' },
  replay: { name: 'Replay', does: 'Answers come from recordings. What was not recorded is refused.' },
  record: {
    name: 'Record',
    does: 'Answers come from the live platform, and each is kept as a file.',
    warns: 'Requests go to the live platform from now on, and each answer is written to the folder of recordings.',
  },
  proxy: {
    name: 'Proxy',
    does: 'Answers come from the live platform, as they are.',
    warns: 'Requests go to the live platform from now on.',
  },
}

/** In the order in which they are offered: what stays on this machine first. */
export const modeOrder: readonly Mode[] = ['emulate', 'replay', 'record', 'proxy']
