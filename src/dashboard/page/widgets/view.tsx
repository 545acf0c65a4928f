/** The layout of a view: heading, lead, actions and sections. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

interface Props {
  readonly title: string
  readonly lead?: ComponentChildren
  readonly action?: ComponentChildren
  readonly narrow?: boolean
  /** Whether the heading is visible to screen readers only. */
  readonly bare?: boolean
  readonly children: ComponentChildren
}

let isFirst = true
let shownTitle = 'Standin'
let problems = 0

/** `(2) Standin` while there are problems; other views than the first are named. */
function titlePage(title = shownTitle): void {
  shownTitle = title
  const name = title === 'Activity' ? 'Standin' : `${title} · Standin`
  document.title = problems > 0 ? `(${problems}) ${name}` : name
}

/** Shows the number of problems in the page's title. */
export function countProblems(count: number): void {
  problems = count
  titlePage()
}

/** Moves the focus to the view's heading, for when the focused element is removed. */
export const focusHeading = () => document.querySelector('h1')?.focus()

export function View({ title, lead, action, narrow = false, bare = false, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  // A layout effect, so that title and view change together.
  useLayoutEffect(() => {
    titlePage(title)
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
  const head = <Heading id={id}>{title}</Heading>
  return (
    <section aria-label={label} aria-labelledby={label === undefined ? id : undefined}>
      {action ? (
        <div class="row spread">
          {head}
          {action}
        </div>
      ) : (
        head
      )}
      {lead && <p class="quiet">{lead}</p>}
      {children}
    </section>
  )
}
