/** Rules on their way from a draft to a file: written, checked, and kept. */
import { replyFilesOf } from '../config/load.js'
import type { Draft, DraftSource, SentRules } from '../replies/index.js'
import type { Assembly } from './assembly.js'
import { loadReplies } from './read-replies.js'
import type { PlatformSources } from './sources.js'

export interface Drafts {
  /** A rule that says again what was said, in texts that `open` has taken the secrets out of. Rejects with a PlatformError that says why there can be none. */
  draft(told: DraftSource, open: (text: string) => string): Promise<Draft>
  /** What is wrong with rules, with the line and the column; or the rules as they are sent. */
  read(yaml: string): Promise<SentRules>
  /** Puts rules that are good into a new file; gives back its name. Rejects with a PlatformError that says why not. */
  keep(yaml: string, name: string): Promise<string>
}

export function createDrafts(current: () => Pick<Assembly, 'loaded'>, { file }: PlatformSources): Drafts {
  return {
    draft: async (told, open) => (await loadReplies()).draftOf(told, open),
    read: async yaml => (await loadReplies()).rulesSent(yaml),
    async keep(yaml, name) {
      const { loaded } = current()
      const { keepRules } = await loadReplies()
      const files = replyFilesOf(loaded)
      // As where they are read: whoever wants no file at all has no folder either.
      const isWithoutFiles = file === false && loaded.originOf(['replies']) === 'default'
      return keepRules(yaml, name, isWithoutFiles ? { ...files, patterns: [] } : files)
    },
  }
}
