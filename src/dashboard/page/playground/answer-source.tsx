/** The request and the response as they went over the wire, and the request as code; made when somebody looks. */
import { useState } from 'preact/hooks'
import { useConfig } from '../config.jsx'
import { CodeBlock } from '../widgets/code-block.jsx'
import { Tabs } from '../widgets/tabs.jsx'
import type { Answer } from './answer.js'
import { codeFor } from './code.js'

interface Props {
  readonly answer: Answer
  /** Which turn it is, counted from 1. */
  readonly place: number
}

export function AnswerSource(props: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="fold" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Raw and code<span class="unseen"> of answer {props.place}</span>
      </summary>
      {isOpen && <Content {...props} />}
    </details>
  )
}

function Content({ answer: { request, raw, leftOut }, place }: Props) {
  const { url } = useConfig()
  const response = leftOut > 0 ? `${raw}\n\n… and ${leftOut} more characters` : readable(raw)
  const shown = [
    { name: 'Request', code: readable(request) },
    { name: 'Response', code: response || 'Nothing came.' },
    ...codeFor(request, url),
  ]
  const tabs = shown.map(({ name, code }) => ({
    name,
    content: <CodeBlock code={code} label={`${name} of answer ${place}`} />,
  }))
  return (
    <div class="fold-content">
      <Tabs label={`Raw and code of answer ${place}`} tabs={tabs} />
    </div>
  )
}

/** JSON with its lines; anything else, such as the events of a stream, as it came. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
