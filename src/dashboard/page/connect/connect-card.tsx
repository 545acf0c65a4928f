/** The least that an app needs: the address, a key and a first request. Shown in Activity until the first request. */
import { useConfig } from '../config.jsx'
import { CopyButton } from '../widgets/button.jsx'
import { CodeBlock, Pairs } from '../widgets/view.jsx'
import { snippetsFor, useExampleKey } from './snippets.js'

export function ConnectCard() {
  const config = useConfig()
  const { key } = useExampleKey()
  return (
    <div class="stack">
      <Copied
        of={[
          ['Base URL', `${config.url}/v1`],
          ['API key', key],
        ]}
      />
      <CodeBlock code={snippetsFor(config, key).curl} label="a first request" marked={key} />
    </div>
  )
}

/** Facts, each with a button that copies it. */
export const Copied = ({ of: facts }: { readonly of: readonly (readonly [name: string, value: string])[] }) => (
  <Pairs
    class="pairs addresses lined"
    of={facts.map(([name, value]) => [
      name,
      <span key={name} class="line">
        <code class="cut">{value}</code>
        <CopyButton text={value} what={name} bare />
      </span>,
    ])}
  />
)
