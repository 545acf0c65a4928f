/** An exchange that the journal does not keep any more: what the list still knows of it. */
import type { ComponentChildren } from 'preact'
import type { BriefJson } from '../../journal-wire.js'
import { Notice } from '../widgets/notice.jsx'
import { TimeBar } from './time-bar.jsx'
import { callerName, decisionOf, duration, size } from './wording.js'

export function Gone({ brief }: { readonly brief: BriefJson | undefined }) {
  return (
    <>
      <Notice tone="care">
        <p>
          This exchange is not kept any more. The journal holds the last ones, and of very many at a time only some;{' '}
          <code>journal.maxEntries</code> in the configuration says how many.
        </p>
      </Notice>
      {brief && (
        <>
          <dl class="pairs">
            <Fact name="Who">{callerName(brief)}</Fact>
            <Fact name="Why this answer">{decisionOf(brief)}</Fact>
            <Fact name="Asked">{size(brief.requestBytes)}</Fact>
            <Fact name="Answered">
              {size(brief.responseBytes)} in {duration(brief.durationMs)}
            </Fact>
          </dl>
          <TimeBar of={brief} scaleMs={Math.max(brief.durationMs, 1)} />
        </>
      )}
    </>
  )
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
