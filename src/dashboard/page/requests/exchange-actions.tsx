/** What can be done with one exchange. */
import type { EntryJson } from '../../journal-wire.js'
import { routes } from '../../routes.js'
import { MakeRecording } from '../make/make-recording.jsx'
import { MakeRule } from '../make/make-rule.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'
import { textOf } from './body-view.jsx'

/** Rules say what a model says. */
const CHAT = 'POST /v1/chat/completions'

interface Props {
  readonly entry: EntryJson
  /** The command that asks the same again. */
  readonly curl: string
}

export function ExchangeActions({ entry, curl }: Props) {
  const { id, request, response, endpoint, caller, status } = entry
  const isRefused = caller.kind === 'refused' || status === 401
  return (
    <div class="exchange-actions">
      {endpoint === CHAT && !isRefused && <MakeRule entry={entry} />}
      {endpoint !== null && !isRefused && !endpoint.includes(' /auth/v1/') && <MakeRecording entry={entry} />}
      <CopyButton text={curl} what="as curl" words="Copy as curl" />
      {request.body !== undefined && (
        <CopyButton text={textOf(request.body)} what="request body" words="Copy request body" />
      )}
      {response.body !== undefined && <CopyButton text={textOf(response.body)} what="answer" words="Copy answer" />}
      <CopyButton text={`${location.origin}${routes.requests}?id=${id}`} what="link" words="Copy link" />
    </div>
  )
}
