/** Code to copy; one word of it may be marked. */
import { CopyButton } from './copy-button.jsx'
import { Scrolling } from './scrolling.jsx'

interface Props {
  readonly code: string
  readonly label: string
  readonly marked?: string
}

export function CodeBlock({ code, label, marked }: Props) {
  return (
    <div class="code-block">
      <Scrolling label={label}>
        <pre>
          <code>{marked ? withMarks(code, marked) : code}</code>
        </pre>
      </Scrolling>
      <CopyButton text={code} what={label} />
    </div>
  )
}

const withMarks = (code: string, marked: string) =>
  code.split(marked).flatMap((part, index) => (index === 0 ? [part] : [<mark key={index}>{marked}</mark>, part]))
