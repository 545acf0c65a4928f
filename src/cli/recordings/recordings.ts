/** `standin recordings …`: inspects and maintains recordings. */
import { UsageError } from '../../check/problem.js'
import { didYouMean } from '../../check/suggest.js'
import type { CommandLine } from '../arguments.js'
import { listRecordings } from './list.js'
import { pruneRecordings } from './prune.js'
import { renameRecordings } from './rename.js'
import { scanRecordings } from './scan.js'
import { showRecording } from './show.js'

interface Action {
  readonly run: (commandLine: CommandLine) => Promise<string>
  /** How many further words the action takes. */
  readonly words: readonly [least: number, most: number]
  readonly usage: string
}

const actions: Readonly<Record<string, Action>> = {
  list: { run: listRecordings, words: [0, 0], usage: 'standin recordings list' },
  show: { run: showRecording, words: [1, 1], usage: 'standin recordings show KEY, or a file, or a part of its name' },
  prune: { run: pruneRecordings, words: [0, 0], usage: 'standin recordings prune' },
  rename: { run: renameRecordings, words: [0, 2], usage: 'standin recordings rename, or rename OLD NEW' },
  scan: { run: scanRecordings, words: [0, Number.POSITIVE_INFINITY], usage: 'standin recordings scan [FILES…]' },
}

/** Returns what to print. Throws a ProblemsError for invalid files, and a UsageError for an unknown action. */
export async function runRecordingsCommand(commandLine: CommandLine): Promise<string> {
  const [, name = '', ...more] = commandLine.words
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!action) {
    const names = Object.keys(actions)
    const what = name === '' ? 'standin recordings needs one of' : `standin recordings ${name} is not a command. Known`
    throw new UsageError(`${what}: ${names.join(', ')}.${name && didYouMean(name, names)}`)
  }
  const [least, most] = action.words
  if (more.length >= least && more.length <= most) return action.run(commandLine)
  throw new UsageError(`It is ${action.usage}.`)
}
