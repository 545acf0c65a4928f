/** What is recorded and replayed. */
import { signIn } from './app.js'

const ada = await signIn('ada@example.com', 'correct horse')
console.log(await ada.projects())
for await (const line of ada.deploy('atlas')) console.log(line)
