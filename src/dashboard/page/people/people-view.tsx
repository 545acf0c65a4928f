/** Everyone who uses the platform: users, what was sent to them, their sessions and their API keys. */
import { useConfig } from '../config.jsx'
import { useAddress } from '../routing.js'
import { Empty } from '../widgets/states.jsx'
import { Tabs } from '../widgets/tabs.jsx'
import { View } from '../widgets/view.jsx'
import { Keys } from './keys.jsx'
import { Messages } from './messages.jsx'
import { AllSessions } from './sessions.jsx'
import { UserView } from './user-view.jsx'
import { Users } from './users.jsx'

export function PeopleView() {
  const user = useAddress().query.get('user')
  if (useConfig().auth_mode === 'proxy') {
    return (
      <View title="People">
        <Empty title="Managed by the live backend">
          With <code>auth.mode: proxy</code>, users and messages stay in the live backend. See its own dashboard.
        </Empty>
        <Keys />
      </View>
    )
  }
  if (user !== null) return <UserView key={user} id={user} />
  const tabs = [
    { name: 'Users', content: <Users /> },
    { name: 'Messages', content: <Messages /> },
    { name: 'Sessions', content: <AllSessions /> },
    { name: 'Keys', content: <Keys /> },
  ]
  return (
    <View
      title="People"
      lead="Who has an account here, and what a live backend would have sent them. Nothing leaves this machine."
    >
      <Tabs label="People" at="tab" tabs={tabs} />
    </View>
  )
}
