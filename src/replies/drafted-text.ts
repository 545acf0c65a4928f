/** Texts of an answer as they stand in a rule. */
import { hasTemplate } from './templates.js'

/** What looks like a template is only text here. */
export const plain = (text: string) => (hasTemplate(text) ? `{% raw %}${text}{% endraw %}` : text)
