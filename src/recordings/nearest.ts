/** Finds the recording that comes nearest to a request that has none, so that a miss can say what is different. */
import { isObject } from './canonical.js'
import { asksForChat } from './defaults.js'
import { differences, distance } from './difference.js'
import { requestIn } from './file-text.js'
import type { Ignore } from './ignore.js'
import { comparedForm, keyOf } from './key.js'
import type { Kept } from './names.js'
import type { RecordedRequest } from './recording.js'
import type { Difference } from './run.js'
import type { Shelf } from './shelf.js'
import { endpointFolder, slugOf } from './slug.js'

export interface Nearest {
  readonly kept: Kept
  /** Whether it is the very same request, whatever its name says: somebody has edited it, or changed what is ignored. */
  readonly isSame: boolean
  readonly differences: readonly Difference[]
}

/** More are not read for one miss: their names say which are the likeliest. */
const READ = 100

/** Nothing where nothing is recorded for its method and path. */
export async function nearest(
  { request, key }: { readonly request: RecordedRequest; readonly key: string },
  shelf: Shelf,
  ignore: Ignore,
): Promise<Nearest | undefined> {
  const mine = whatCounts(request, ignore)
  let best: { readonly kept: Kept; readonly request: RecordedRequest; readonly apart: number } | undefined
  for (const kept of likeliest(request, [...shelf.all()])) {
    const recorded = await shelf
      .text(kept.file)
      .then(text => requestIn(text, kept.file))
      // What is no recording is near to nothing.
      .catch(() => undefined)
    if (recorded?.method !== request.method || recorded.path !== request.path) continue
    if (keyOf(recorded, ignore) === key) return { kept, isSame: true, differences: [] }
    const theirs = whatCounts(recorded, ignore)
    const apart = distance(mine, theirs)
    if (!best || apart < best.apart) best = { kept, request: theirs, apart }
  }
  return best && { kept: best.kept, isSame: false, differences: differences(mine, best.request) }
}

/** Without the form of the answer: one can be made of the other. */
function whatCounts(request: RecordedRequest, ignore: Ignore): RecordedRequest {
  const form = comparedForm(request, ignore)
  if (!asksForChat(form.path) || form.body.kind !== 'json' || !isObject(form.body.value)) return form
  const { stream: _stream, stream_options: _options, ...value } = form.body.value
  return { ...form, body: { kind: 'json', value } }
}

/** Those whose names have most words in common with the one that the request would have, of its own endpoint first. */
function likeliest(request: RecordedRequest, all: readonly Kept[]): readonly Kept[] {
  const folder = `${endpointFolder(request.path)}/`
  const words = new Set(slugOf(request).split('-'))
  const likeness = ({ file }: Kept) => {
    const name = file.slice(file.lastIndexOf('/') + 1)
    const common = name.split('-').filter(word => words.has(word)).length
    return (file.startsWith(folder) ? 1000 : 0) + common
  }
  return all
    .map(kept => ({ kept, likeness: likeness(kept) }))
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, READ)
    .map(({ kept }) => kept)
}
