/** The layout of a view: heading, sections, tabs, parts that fold, facts, code and badges. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { navigate, useAddress } from '../routing.jsx'
import { CopyButton } from './button.jsx'

let isFirst = true
let shownTitle = ''
let problems = 0

/** `(2) Standin` while there are problems; other views than the first are named. */
function titlePage(): void {
  const name = shownTitle === 'Activity' ? 'Standin' : `${shownTitle} · Standin`
  document.title = problems > 0 ? `(${problems}) ${name}` : name
}

/** Shows the number of problems in the page's title. */
export function countProblems(count: number): void {
  problems = count
  titlePage()
}

/** Moves the focus to the view's heading, for when the focused element is removed. */
export const focusHeading = () => document.querySelector('h1')?.focus()

interface ViewProps {
  readonly title: string
  readonly lead?: ComponentChildren
  readonly action?: ComponentChildren
  /** Whether the heading is visible to screen readers only. */
  readonly bare?: boolean
  readonly children: ComponentChildren
}

export function View({ title, lead, action, bare = false, children }: ViewProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  // A layout effect, so that title and view change together.
  useLayoutEffect(() => {
    shownTitle = title
    titlePage()
    // After a page load, browsers start at the top. Navigation within the page has to do that itself.
    if (!isFirst) heading.current?.focus()
    isFirst = false
  }, [title])
  return (
    <div class="view stack">
      <header class={bare ? 'unseen' : 'view-head row spread'}>
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <p class="lead quiet">{lead}</p>}
        </div>
        {action}
      </header>
      {children}
    </div>
  )
}

interface SectionProps {
  readonly title: ComponentChildren
  readonly heading?: 'h2' | 'h3'
  readonly lead?: ComponentChildren
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

/** A part of a view, labelled by its heading. */
export function Section({ title, heading: Heading = 'h2', lead, action, children }: SectionProps) {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <div class="row spread">
        <Heading id={id}>{title}</Heading>
        {action}
      </div>
      {lead && <p class="quiet">{lead}</p>}
      {children}
    </section>
  )
}

interface DisclosureProps {
  readonly summary: ComponentChildren
  /** Quiet words beside the summary. */
  readonly note?: ComponentChildren
  readonly open?: boolean
  /** Whether its content is rendered only while it is open. */
  readonly lazy?: boolean
  readonly children: ComponentChildren
}

/** A summary line that shows and hides the content below it. */
export function Disclosure({ summary, note, open = false, lazy = false, children }: DisclosureProps) {
  const [isOpen, setOpen] = useState(open)
  return (
    <details class="fold" open={open} onToggle={({ currentTarget }) => lazy && setOpen(currentTarget.open)}>
      <summary>
        {summary} {note !== undefined && <span class="fold-note cut quiet">{note}</span>}
      </summary>
      {(isOpen || !lazy) && <div class="fold-content stack">{children}</div>}
    </details>
  )
}

interface PairsProps {
  /** Facts without a value are left out. */
  readonly of: readonly (readonly [name: string, value: ComponentChildren])[]
  readonly class?: string
}

/** Named facts, as a description list. */
export function Pairs({ of, class: look = 'pairs' }: PairsProps) {
  const known = of.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
  if (known.length === 0) return null
  return (
    <dl class={look}>
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

interface Props {
  readonly label: string
  readonly tabs: readonly { readonly name: string; readonly content: ComponentChildren }[]
  /** The parameter of the address that keeps the chosen tab, by its name in lower case. */
  readonly at: string
}

export function Tabs({ label, tabs, at }: Props) {
  const id = useId()
  const { path, query } = useAddress()
  const named = tabs.findIndex(({ name }) => name.toLowerCase() === query.get(at))
  const chosen = Math.max(named, 0)
  const setChosen = (to: number) =>
    navigate(`${path}?${new URLSearchParams({ [at]: tabs[to]?.name.toLowerCase() ?? '' })}`, { replace: true })

  function move(event: KeyboardEvent): void {
    const to = target(event.key, chosen, tabs.length)
    if (to === undefined) return
    event.preventDefault()
    setChosen(to)
    document.getElementById(`${id}-tab-${to}`)?.focus()
  }

  return (
    <div class="stack">
      <div role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-controls={`${id}-panel`}
            aria-selected={index === chosen}
            tabIndex={index === chosen ? 0 : -1}
            onClick={() => setChosen(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-tab-${chosen}`}>
        {tabs[chosen]?.content}
      </div>
    </div>
  )
}

/** The tab that a key moves to, if any. The arrow keys wrap around. */
const target = (key: string, chosen: number, count: number): number | undefined =>
  ({ ArrowRight: (chosen + 1) % count, ArrowLeft: (chosen + count - 1) % count, Home: 0, End: count - 1 })[key]

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
