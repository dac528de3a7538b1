// Writes what a server answers in the place of what was recorded (`--record`): how recordings come from a kube-apiserver.
import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'

export class Recorder {
  /** By file and id, the answer. */
  #answers = new Map()
  /** Ids whose answer was another one each time: these stay as they are. */
  unsteady = []

  /**
   * Takes an answer that came twice.
   * @param isSame whether the first and the second one say the same
   */
  take(file, id, [first, second], isSame) {
    if (!isSame(first, second)) {
      this.unsteady.push(id)
      return
    }
    const answers = this.#answers.get(file) ?? new Map()
    this.#answers.set(file, answers.set(id, first))
  }

  /** @returns how many answers were written; all else stays as it was, to the letter */
  write() {
    let written = 0
    for (const [file, answers] of this.#answers) {
      const lines = gunzipSync(readFileSync(file)).toString('utf8').split('\n')
      const changed = lines.map((line) => {
        if (line.trim() === '' || line.startsWith('//')) return line
        const recorded = JSON.parse(line)
        const count = apply(recorded, answers)
        written += count
        return count === 0 ? line : JSON.stringify(recorded)
      })
      writeFileSync(file, gzipSync(changed.join('\n'), { level: 9 }))
    }
    return written
  }
}

/** The first line of a kind has no id, and an answer for each of its bases. @returns how many answers it took */
function apply(recorded, answers) {
  if (recorded.id !== undefined) {
    if (!answers.has(recorded.id)) return 0
    recorded.expect = answers.get(recorded.id)
    return 1
  }
  const names = Object.keys(recorded.expect).filter((name) => answers.has(`base/${name}`))
  for (const name of names) recorded.expect[name] = answers.get(`base/${name}`)
  return names.length
}
