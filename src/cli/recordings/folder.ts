/** The configured folder of recordings, for the commands that work on it. */
import path from 'node:path'
import { redactionRules } from '../../config/redaction.js'
import { mapInParallel } from '../../core/work.js'
import { ignoreFrom, openFolder } from '../../recordings/index.js'
import { load } from '../load.js'
import { printable } from '../output.js'
import { fileProgress, type OutputFlags } from '../progress.js'

export function openRecordings(line: Parameters<typeof load>[0]) {
  const { config, dir } = load(line)
  return {
    config,
    folder: openFolder(path.resolve(dir, config.recordings.dir)),
    ignore: ignoreFrom(config.recordings.ignore),
    rules: redactionRules(config),
  }
}

/** Runs `work` on all files, several at a time, and shows progress. */
export function eachFile<R>(
  files: readonly string[],
  flags: OutputFlags,
  work: (file: string) => Promise<R>,
): Promise<readonly R[]> {
  const progress = fileProgress(files.length, flags)
  return mapInParallel(files, async file => {
    progress.at(printable(file))
    const result = await work(file)
    progress.step()
    return result
  }).finally(progress.end)
}
