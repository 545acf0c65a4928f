/** Code to copy, and a scrolling box for wide content. */
import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.jsx'

interface Props {
  readonly code: string
  readonly label: string
  readonly marked?: string
  readonly copied?: string
}

export function CodeBlock({ code, label, marked, copied = code }: Props) {
  return (
    <div class="code-block">
      <Scrolling label={label}>
        <pre>
          <code>{marked ? withMarks(code, marked) : code}</code>
        </pre>
      </Scrolling>
      <CopyButton text={copied} what={label} />
    </div>
  )
}

const withMarks = (code: string, marked: string) =>
  code.split(marked).flatMap((part, index) => (index === 0 ? [part] : [<mark key={index}>{marked}</mark>, part]))

/** A box for content that may be wider than the page. It scrolls, also with the keyboard. */
export function Scrolling({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the box cannot be scrolled with the keyboard
    <section class="scrolling" aria-label={label} tabIndex={0}>
      {children}
    </section>
  )
}
