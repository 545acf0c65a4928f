/** Example code, with the key that was just created filled in, or one that works without an account. */
import type { ComponentChildren } from 'preact'
import { useConfig } from '../config.jsx'
import { CodeBlock } from '../widgets/code-block.jsx'
import { Tabs } from '../widgets/tabs.jsx'
import { useFreshKey } from './fresh-key.jsx'
import { PLACEHOLDER, snippetsFor } from './snippets.js'

interface Props {
  /** The key to fill in if none was just created. */
  readonly otherwise?: string | undefined
  /** What is said about it. */
  readonly children: ComponentChildren
}

export function UsePanel({ otherwise = PLACEHOLDER, children }: Props) {
  const fresh = useFreshKey()
  const key = fresh?.key ?? otherwise
  const tabs = snippetsFor(useConfig(), key).map(({ name, code }) => ({
    name,
    content: <CodeBlock code={code} label={`${name} example`} marked={key} />,
  }))
  return (
    <>
      <p class="quiet">
        {fresh ? `Your new key “${fresh.name}” is filled in until you leave or reload this page.` : children}
      </p>
      <Tabs label="Clients" tabs={tabs} />
    </>
  )
}
