// Generated from the facts by `npm run generate`. Do not edit.

export type IntOrString = number | string
