/** The rules of what the emulated model says: looked for, looked at, removed, and made of requests. */
import { View } from '../widgets/view.jsx'
import { AskedList } from './asked-list.jsx'
import { RuleList } from './rule-list.jsx'

export function RepliesView() {
  return (
    <View title="Replies" lead="What the emulated models say, and when. The first rule that fits a request answers it.">
      <RuleList />
      <section aria-labelledby="asked">
        <h2 id="asked">Make a rule of a request</h2>
        <AskedList />
      </section>
    </View>
  )
}
