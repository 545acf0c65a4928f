/** Where to point an app. */
import { useConfig } from '../config.jsx'
import { CopyButton } from '../widgets/copy-button.jsx'

export function Addresses() {
  const { url, auth_url, anon_key } = useConfig()
  const facts = [
    ['Base URL', url],
    ['For OpenAI’s clients', `${url}/v1`],
    ['Auth URL', auth_url],
    ['Anon key', anon_key],
  ] as const
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code>{value}</code>
            <CopyButton text={value} what={name} bare />
          </dd>
        </div>
      ))}
    </dl>
  )
}
