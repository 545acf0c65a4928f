/** `standin recordings accept`: adopts the requests of a run with --on-miss nearest. */

import { tokenizerNamed } from '../chat/tokens/index.js'
import { changeInWords } from '../check/miss-groups.js'
import { problemInWords } from '../check/problem.js'
import { type AcceptedChange, acceptChanges } from '../recordings/index.js'
import { command, folderFlags, toggle } from './command.js'
import { pluralize, printable } from './output.js'
import { listedFiles } from './receipt.js'
import { openRecordings } from './recordings.js'

const MOST_NAMED = 3

const accept = command({
  flags: {
    ...folderFlags,
    any: toggle('Also adopt changed messages, of a run with --on-miss any'),
    'dry-run': toggle('Only print what would be changed'),
  },
  examples: [['standin exec --mode replay --on-miss nearest -- npm test', 'find out what to accept']],
  async run(line) {
    const { any, 'dry-run': isDry } = line.flags
    const { folder, ignore, config } = openRecordings(line)
    const tokenizer = await tokenizerNamed(config.tokenizer)
    const { accepted, problems } = await acceptChanges({ folder, ignore, tokenizer, any, isDry })
    const data = { dryRun: isDry, accepted, problems }
    const text = acceptedText(accepted, isDry, problems.length === 0)
    if (problems.length === 0) return { data, text }
    process.exitCode = 1
    for (const same of Map.groupBy(problems, ({ sentence }) => sentence).values()) {
      for (const problem of same.slice(0, MOST_NAMED)) console.error(printable(problemInWords(problem)))
      const more = same.length - MOST_NAMED
      if (more > 0) console.error(`  The same for ${pluralize(more, 'more recording')}.`)
    }
    return { data, text }
  },
})

const NOTHING =
  'Nothing to accept: no request has changed since the last time. Run the tests with --mode replay --on-miss nearest.\n'

function acceptedText(accepted: readonly AcceptedChange[], isDry: boolean, isWhole: boolean): string {
  if (accepted.length === 0) return isWhole ? NOTHING : 'Nothing was accepted.\n'
  const groups = Map.groupBy(accepted, ({ differences }) => differences.map(changeInWords).join('\n'))
  const lines = [...groups].flatMap(([changes, all]) => [
    ...changes.split('\n'),
    ...listedFiles(
      all.map(({ from, to, isCopy }) =>
        from === to ? from : `${from} ${isCopy ? 'is copied to' : '→'} ${to.slice(to.lastIndexOf('/') + 1)}`,
      ),
    ),
  ])
  const count = pluralize(accepted.length, 'recording')
  const end = isDry ? `${count} would be changed.` : `${count} changed. The answers are the same.`
  return `${[...lines, end].map(printable).join('\n')}\n`
}

export const acceptCommands = { 'recordings accept': accept }
