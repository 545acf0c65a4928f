/** How an answer came: its status, how long it took, what it cost, and what gave it. */
import { routes } from '../../routes.js'
import { Link } from '../widgets/link.jsx'
import type { Answer } from './answer.js'
import type { AnsweredBy } from './answered-by.js'

interface Props {
  readonly answer: Answer
  readonly by: AnsweredBy | undefined
}

const inWords = (ms: number) => (ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(2)} s`)

export function AnswerFacts({ answer, by }: Props) {
  const { status, firstTokenMs, totalMs, completion } = answer
  const { usage, finishReason } = completion
  const facts: readonly (readonly [name: string, value: string])[] = [
    ...(status === undefined ? [] : [['Status', String(status)] as const]),
    ...(firstTokenMs === undefined ? [] : [['First token', inWords(firstTokenMs)] as const]),
    ...(totalMs === undefined ? [] : [['Total', inWords(totalMs)] as const]),
    ...(usage ? [['Tokens', `${usage.prompt} + ${usage.completion}`] as const] : []),
    ...(finishReason === '' ? [] : [['Finish reason', finishReason] as const]),
    ...(by?.mode && by.mode !== 'emulate' ? [['Mode', by.mode] as const] : []),
  ]
  const remarks = [by?.remark, by?.hint].filter(remark => remark)
  return (
    <>
      <dl class="answer-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {by && (
          <div>
            <dt>{by.source ? 'Answered by' : 'In full'}</dt>
            <dd>
              <Link to={`${routes.requests}?id=${by.id}`}>{by.source ?? `request ${by.id}`}</Link>
            </dd>
          </div>
        )}
      </dl>
      {remarks.map(remark => (
        <p key={remark} class="hint">
          {remark}
        </p>
      ))}
    </>
  )
}
