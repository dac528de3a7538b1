// Whether an answer is the recorded one.

/** Differences as [pointer, expected, got]; key order counts only where `order` is set. */
export function diff(want, got, pointer = '', out = [], order = false) {
  if (want === got) return out
  if (Array.isArray(want) && Array.isArray(got)) {
    for (let i = 0; i < Math.max(want.length, got.length); i++) diff(want[i], got[i], `${pointer}/${i}`, out, order)
  } else if (
    want &&
    got &&
    typeof want === 'object' &&
    typeof got === 'object' &&
    !Array.isArray(want) &&
    !Array.isArray(got)
  ) {
    for (const k of new Set([...Object.keys(want), ...Object.keys(got)]))
      diff(want[k], got[k], `${pointer}/${k}`, out, order)
    if (
      order &&
      Object.keys(want).join() !== Object.keys(got).join() &&
      Object.keys(want).sort().join() === Object.keys(got).sort().join()
    )
      out.push([pointer + '#order', Object.keys(want), Object.keys(got)])
  } else out.push([pointer, want, got])
  return out
}
/** What the API leaves open counts as equal: the order of field manager conflicts; where a scenario says `"times": false`, the order that managedFields have by their times. */
export const open = (v, s) => {
  if (Array.isArray(v)) return v.map((x) => open(x, s))
  if (!v || typeof v !== 'object') return v
  return Object.fromEntries(
    Object.entries(v).map(([k, x]) => {
      if (k === 'causes' && x?.[0]?.reason === 'FieldManagerConflict')
        x = [...x].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      if (s.times === false && /managedFields$/.test(k) && Array.isArray(x)) {
        const key = (e) =>
          [e?.operation === 'Apply' ? 0 : 1, e?.time ? 1 : 0, e?.manager, e?.apiVersion, e?.subresource].join('\0')
        if (x.every((e, i) => !i || x[i - 1]?.operation === e?.operation || e?.operation === 'Update'))
          x = [...x].sort((a, b) => (key(a) < key(b) ? -1 : 1))
      }
      return [k, open(x, s)]
    }),
  )
}
/** What a program (not a person) would notice: no message texts, no managedFields. */
export const lenient = (v) =>
  Array.isArray(v)
    ? v.map(lenient)
    : v && typeof v === 'object'
      ? Object.fromEntries(
          Object.entries(v)
            .filter(([k]) => k !== 'managedFields' && k !== 'message' && k !== 'warnings')
            .map(([k, x]) => [k, lenient(x)]),
        )
      : v
