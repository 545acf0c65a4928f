import { expect, test } from 'vitest'
import { run } from '../command.js'
import { didYouMean, notACommand, takesNoMore } from '../sentences.js'
import { filesOf, recorded } from './recorded.js'

test.each([
  [['recordings'], 'standin recordings needs one of: prune, scan.'],
  [['recordings', 'prun'], didYouMean('prune')],
  [['recordings', 'toString'], notACommand('standin recordings toString')],
  [['recordings', 'prune', 'more'], takesNoMore('recordings prune', 'more')],
  [['recordings', 'prune', '--older-than', 'soon'], '--older-than must be a number followed by m, h or d, not "soon".'],
  [['recordings', 'scan', '--broken'], 'The flag --broken belongs to standin recordings prune.'],
  [['import'], 'Usage: standin import FILE.har.'],
  [['import', 'a.har', 'b.har'], 'Usage: standin import FILE.har.'],
  [['import', 'a.har', '--base', 'example.com'], '--base must be an http or https address'],
])('%j is refused with an explanation', async (args, sentence) => {
  const { code, stdout, stderr } = await run(args, { files: filesOf(recorded()) })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(sentence)
})
