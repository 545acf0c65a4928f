/** The rules of a configuration, read from its files and from code. */
import { type LoadedConfig, replyFilesOf } from '../config/load.js'
import type { Replies } from '../replies/index.js'
import type { LastingRules } from './rules.js'
import type { PlatformSources } from './sources.js'

export const loadReplies = () => import('../replies/index.js')
export type RepliesPart = Awaited<ReturnType<typeof loadReplies>>

export async function readReplies(
  loaded: LoadedConfig,
  { rules: inCode = [], file: wanted }: PlatformSources,
  lasting: () => Promise<LastingRules>,
) {
  const { createReplies, joined, loadRules, rulesFromCode } = await loadReplies()
  const { seed, strict, magic } = loaded.config
  const files = replyFilesOf(loaded)
  // Whoever asks for no file at all gets nothing from the disk by surprise.
  const unasked = wanted === false && loaded.originOf(['replies']) === 'default'
  const patterns = unasked ? [] : files.patterns
  const [coded, filed] = await Promise.all([
    rulesFromCode(inCode, loaded.dir, seed),
    loadRules({ ...files, patterns }, seed),
  ])
  const { rules, files: said } = joined([coded, filed])
  return { replies: createReplies({ rules, seed, strict, magic, ...(await lasting()) }), files: said }
}

/** Replies that are asked before their files are read wait; afterwards nothing stands in between. */
export function whenLoaded(load: () => Promise<Replies>): Pick<Replies, 'answer' | 'misfit' | 'faultFor'> {
  let loaded: Replies | undefined
  const wait = async () => {
    loaded = await load()
    return loaded
  }
  return {
    answer: (...asked) => (loaded ? loaded.answer(...asked) : wait().then(replies => replies.answer(...asked))),
    misfit: (...asked) => loaded?.misfit(...asked),
    faultFor: async exchange => (loaded ?? (await wait())).faultFor(exchange),
  }
}
