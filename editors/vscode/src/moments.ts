// The moments of a recorded program's history: the request `dapple/when`, and how its answer is listed. Knows nothing of VS Code.

export interface Bookmark {
    number: number;
    name: string;
    /** Whether a search for a write has set it. */
    isOfWrite: boolean;
    /** How many events from outside had come. */
    position: number;
}

export interface When {
    position: number;
    length: number;
    isPast: boolean;
    /** The earliest first. */
    bookmarks: Bookmark[];
}

export interface Moment {
    label: string;
    description: string;
    /** What `dapple/goToMoment` takes. */
    to: number | 'beginning' | 'present';
}

/** All moments that can be gone to, the earliest first. */
export function moments({ length, isPast, bookmarks }: When): Moment[] {
    const marked = bookmarks.map(({ number, name, isOfWrite, position }): Moment => {
        const label = isOfWrite ? `A write of ${name}` : name === '' ? `Bookmark ${number}` : name;
        return { label, description: `bookmark ${number}, after ${position} of ${length} events`, to: number };
    });
    const present: Moment = { label: 'The Present', description: 'where the program was when it was first run backwards', to: 'present' };
    return [{ label: 'The Beginning', description: 'of the recording', to: 'beginning' }, ...marked, ...(isPast ? [present] : [])];
}
