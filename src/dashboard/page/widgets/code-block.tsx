/** Code to copy, boxes that scroll, and badges: a state in one word and one colour. */
import type { ComponentChildren } from 'preact'
import { CopyButton } from './button.jsx'

interface CodeBlockProps {
  readonly code: string
  readonly label: string
  readonly marked?: string
  readonly copied?: string
}

export const CodeBlock = ({ code, label, marked, copied = code }: CodeBlockProps) => (
  <div class="code-block">
    <Scrolling label={label}>
      <pre>
        <code>{marked ? withMarks(code, marked) : code}</code>
      </pre>
    </Scrolling>
    <CopyButton text={copied} what={label} />
  </div>
)

const withMarks = (code: string, marked: string) =>
  code.split(marked).flatMap((part, index) => (index === 0 ? [part] : [<mark key={index}>{marked}</mark>, part]))

/** A box for content that may be wider than the page. It scrolls, also with the keyboard. */
export const Scrolling = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the box cannot be scrolled with the keyboard
  <section class="scrolling" aria-label={label} tabIndex={0}>
    {children}
  </section>
)

export type Tone = 'good' | 'care' | 'danger' | 'plain'
export type TonedWord = readonly [tone: Tone, word: string]

export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: string }) => (
  <span class={`badge tone-${tone}`}>{children}</span>
)

export const Badges = ({ of: states }: { readonly of: readonly TonedWord[] }) => (
  <span class="badges">
    {states.map(([tone, word]) => (
      <Badge key={word} tone={tone}>
        {word}
      </Badge>
    ))}
  </span>
)

export const StatusBadge = ({ status }: { readonly status: number | null }) => (
  <Badge tone={toneOf(status)}>{status === null ? 'none' : String(status)}</Badge>
)

function toneOf(status: number | null): Tone {
  if (status === null || status >= 500) return 'danger'
  if (status >= 400) return 'care'
  return status >= 300 ? 'plain' : 'good'
}
