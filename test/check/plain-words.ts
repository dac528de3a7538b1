/**
 * Comments and pages are short sentences whose subject acts. These words stand for a subject that does not, or for a
 * name: kube-apiserver is called kube-apiserver.
 */
const words: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/\bwhoever\b/i, 'say who: a client, a user, a caller'],
  [/\blest\b/i, 'say "so that … not"'],
  [/\bwhat is told\b/i, 'say who reports what'],
  [/\bthe reference('s)?\b(?! \|)/i, 'say kube-apiserver'],
]

/** Names that the code once used for things that have a word in the field. */
const names =
  /\b(?:const|let|function|class|type|interface)\s+(?:Left|told|keepReset|Departed|Desk)\b|\bfunction\s+others\b/

/** @returns `FILE:LINE: why` for each line with one of the words */
export const hardWordsIn = (file: string, text: string): string[] =>
  text.split('\n').flatMap((line, index) =>
    [...words, [names, 'say what it is in the words of Kubernetes'] as const].flatMap(([pattern, why]) => {
      const found = pattern.exec(line)
      return found === null ? [] : [`${file}:${index + 1}: "${found[0]}": ${why}`]
    }),
  )
