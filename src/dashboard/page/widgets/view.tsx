/** The layout of a view: heading, lead, actions, sections, parts that fold, and facts. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

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
  readonly narrow?: boolean
  /** Whether the heading is visible to screen readers only. */
  readonly bare?: boolean
  readonly children: ComponentChildren
}

export function View({ title, lead, action, narrow = false, bare = false, children }: ViewProps) {
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
    <div class={narrow ? 'view view-narrow stack' : 'view stack'}>
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
  /** Its name for screen readers, if the heading alone does not say it. */
  readonly label?: string
  readonly heading?: 'h2' | 'h3'
  readonly lead?: ComponentChildren
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

/** A part of a view, labelled by its heading. */
export function Section({ title, label, heading: Heading = 'h2', lead, action, children }: SectionProps) {
  const id = useId()
  return (
    <section aria-label={label} aria-labelledby={label === undefined ? id : undefined}>
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
