export { Form, useAction, useFields } from './fields.jsx'
