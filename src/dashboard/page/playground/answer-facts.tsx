/** The facts about an answer: status, times, tokens, source, and the raw request and response. */
import { routes } from '../../routes.js'
import { useConfig } from '../config.jsx'
import { CodeBlock } from '../widgets/code-block.jsx'
import { Disclosure } from '../widgets/disclosure.jsx'
import { readable } from '../widgets/json.js'
import { Link } from '../widgets/link.jsx'
import { Pairs } from '../widgets/pairs.jsx'
import { Tabs } from '../widgets/tabs.jsx'
import { duration } from '../wording.js'
import { codeFor } from './code.js'
import type { AnswerOrigin, ModelAnswer } from './turns.js'

interface Props {
  readonly answer: ModelAnswer
  /** The number of the turn, counted from 1. */
  readonly number: number
}

export function AnswerFacts({ answer, number, by }: Props & { readonly by: AnswerOrigin | undefined }) {
  const { status, firstTokenMs, totalMs, completion } = answer
  const { usage, finishReason } = completion
  const inWords = (ms: number | undefined) => ms !== undefined && duration(ms)
  const link = by && <Link to={`${routes.activity}?id=${by.id}`}>{by.source ?? `request ${by.id}`}</Link>
  return (
    <>
      <Pairs
        class="answer-facts row small"
        of={[
          ['Status', status],
          ['First token', inWords(firstTokenMs)],
          ['Total', inWords(totalMs)],
          ['Tokens', usage && `${usage.prompt} + ${usage.completion}`],
          ['Finish reason', finishReason],
          ['Mode', by?.mode !== 'emulate' && by?.mode],
          [by?.source ? 'Answered by' : 'In full', link],
        ]}
      />
      {[by?.remark, by?.hint].map(remark => remark && <p class="hint quiet">{remark}</p>)}
      <Disclosure
        lazy
        summary={
          <>
            Raw and code<span class="unseen"> of answer {number}</span>
          </>
        }
      >
        <RawAndCode answer={answer} number={number} />
      </Disclosure>
    </>
  )
}

const AGAIN = 'Try again, as an app should. If you did not set this fault, see the log in the terminal.'

const advice: Readonly<Record<number, string>> = {
  400: 'Fix what the error names and try again. The request as it was sent is below.',
  413: 'Clear the conversation or send a shorter message.',
  424: 'No rule or recording matches this request. Write a rule for it, or record it once.',
  429: 'Wait as long as Retry-After says, then try again. Limits and faults are under Controls.',
  500: AGAIN,
  502: AGAIN,
  503: AGAIN,
  504: AGAIN,
}

/** Advice for a status; undefined if the error itself says enough. */
export function adviceFor(status: number | undefined, hadCredential: boolean): string | undefined {
  if (status !== 401) return advice[status ?? 0]
  return hadCredential
    ? 'Choose another credential in the settings, or create a key under API keys.'
    : 'An app that sends no key gets this. Choose a credential in the settings.'
}

/** The raw request and response, and the request as code. */
function RawAndCode({ answer: { request, raw, leftOut }, number }: Props) {
  const { url } = useConfig()
  const response = leftOut > 0 ? `${raw}\n\n… and ${leftOut} more characters` : readable(raw)
  const shown = [
    { name: 'Request', code: readable(request) },
    { name: 'Response', code: response || '(empty)' },
    ...codeFor(request, url),
  ]
  const tabs = shown.map(({ name, code }) => ({
    name,
    content: <CodeBlock code={code} label={`${name} of answer ${number}`} />,
  }))
  return <Tabs label={`Raw and code of answer ${number}`} tabs={tabs} />
}
