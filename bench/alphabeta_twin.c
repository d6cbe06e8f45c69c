/* Connect four and alpha-beta as one writes them by hand for speed, for bench/alphabeta.py: the same tree as
   agents/alphabeta.py searches, node by node, so that only the speed differs. Compiled with -O3.

   `plain_search` is alpha-beta alone; `full_search` has the transposition table, killers and history, and deepens
   iteratively. Values are for the player to move. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;

enum { ROWS = 6, COLUMNS = 7, HEIGHT = ROWS + 1, CELLS = ROWS * COLUMNS };

#define COLUMN(c) (0x3FULL << ((c) * HEIGHT))
#define CENTRE COLUMN(3)
#define INNER (COLUMN(1) | COLUMN(2) | COLUMN(4) | COLUMN(5))
#define EDGE (COLUMN(0) | COLUMN(6))
#define BOARD (CENTRE | INNER | EDGE)

static double weights[5];
static int64_t nodes;

static inline int has_line(u64 stones)
{
    static const int steps[4] = {1, ROWS, ROWS + 1, ROWS + 2};
    u64 lines = 0;
    for (int i = 0; i < 4; i++) {
        u64 pairs = stones & stones >> steps[i];
        lines |= pairs & pairs >> 2 * steps[i];
    }
    return lines != 0;
}

static inline void windows(u64 own, u64 empty, int *ones, int *twos)
{
    static const int steps[4] = {1, ROWS, ROWS + 1, ROWS + 2};
    *ones = *twos = 0;
    for (int i = 0; i < 4; i++) {
        int step = steps[i];
        u64 none = own & own >> step, two = empty & empty >> step;
        u64 one = (own & empty >> step) | (empty & own >> step);
        step *= 2;
        two = (two & none >> step) | (one & one >> step) | (none & two >> step);
        one = (one & none >> step) | (none & one >> step);
        *ones += __builtin_popcountll(one);
        *twos += __builtin_popcountll(two);
    }
}

static inline double evaluate(u64 me, u64 mask)
{
    u64 other = me ^ mask, empty = BOARD ^ mask;
    int my_ones, my_twos, their_ones, their_twos;
    windows(me, empty, &my_ones, &my_twos);
    windows(other, empty, &their_ones, &their_twos);
    double sum = (my_ones - their_ones) * weights[0] + (my_twos - their_twos) * weights[1]
        + (__builtin_popcountll(me & CENTRE) - __builtin_popcountll(other & CENTRE)) * weights[2]
        + (__builtin_popcountll(me & INNER) - __builtin_popcountll(other & INNER)) * weights[3]
        + (__builtin_popcountll(me & EDGE) - __builtin_popcountll(other & EDGE)) * weights[4];
    return (1.0 - 1e-9) * sum / (1.0 + fabs(sum));
}

static double plain(u64 me, u64 mask, int depth, double alpha, double beta)
{
    nodes++;
    if (has_line(me ^ mask))
        return -1.0;
    if (__builtin_popcountll(mask) == CELLS)
        return 0.0;
    if (depth == 0)
        return evaluate(me, mask);
    double best = -INFINITY;
    for (int column = 0; column < COLUMNS; column++) {
        if (mask & 1ULL << (column * HEIGHT + ROWS - 1))
            continue;
        u64 drop = mask + (1ULL << column * HEIGHT);
        double value = -plain(me ^ mask, mask | drop, depth - 1, -beta, -alpha);
        if (value > best)
            best = value;
        if (value >= beta)
            break;
        if (value > alpha)
            alpha = value;
    }
    return best;
}

/* with table, killers and history */

enum { SLOTS = 1 << 18, PLIES = 64, LOWER = 1, UPPER = 2, EXACT = 3 };

typedef struct {
    u64 key;
    double value;
    int32_t depth;
    int16_t action;
    int8_t bound, complete;
} entry;

static entry *table;
static int killers[PLIES][2], history[2][COLUMNS];
static int64_t horizon;

static inline u64 mix(u64 bits)
{
    bits += 0x9E3779B97F4A7C15ULL;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ULL;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBULL;
    return bits ^ bits >> 31;
}

/* Rank and column in one number: the highest is the next to be tried, among equals the column further left. */
static inline int actions_of(u64 mask, int ply, int mover, int first, int64_t *ranked)
{
    int count = 0;
    for (int column = 0; column < COLUMNS; column++)
        if (!(mask & 1ULL << (column * HEIGHT + ROWS - 1))) {
            int64_t rank = column == first ? 1 << 30
                : column == killers[ply][0] ? (1 << 30) - 1
                : column == killers[ply][1] ? (1 << 30) - 2
                : history[mover][column];
            ranked[count++] = rank << 3 | (7 - column);
        }
    return count;
}

static inline int next_action(int64_t *ranked, int start, int count)
{
    int place = start;
    for (int i = start + 1; i < count; i++)
        if (ranked[i] > ranked[place])
            place = i;
    int64_t highest = ranked[place];
    ranked[place] = ranked[start];
    return 7 - (highest & 7);
}

static double full(u64 me, u64 mask, int depth, double alpha, double beta, int ply);

/* The last ply has neither table nor order. */
static inline double last_ply(u64 me, u64 mask, double alpha, double beta)
{
    double best = -INFINITY;
    for (int column = 0; column < COLUMNS; column++) {
        if (mask & 1ULL << (column * HEIGHT + ROWS - 1))
            continue;
        double value = -full(me ^ mask, mask | (mask + (1ULL << column * HEIGHT)), 0, -beta, -alpha, 0);
        if (value > best)
            best = value;
        if (value >= beta)
            break;
        if (value > alpha)
            alpha = value;
    }
    return best;
}

static double full(u64 me, u64 mask, int depth, double alpha, double beta, int ply)
{
    nodes++;
    if (has_line(me ^ mask))
        return -1.0;
    int stones = __builtin_popcountll(mask);
    if (stones == CELLS)
        return 0.0;
    if (depth == 0) {
        horizon++;
        return evaluate(me, mask);
    }
    if (depth == 1)
        return last_ply(me, mask, alpha, beta);
    u64 key = mix(me + mask);
    entry *known = &table[key & (SLOTS - 1)];
    int first = -1, mover = stones & 1;
    if (known->key == key && known->bound) {
        first = known->action;
        if ((known->depth == depth || (known->complete && known->depth < depth))
            && ((known->bound & LOWER && known->value >= beta) || (known->bound & UPPER && known->value <= alpha))) {
            horizon += !known->complete;
            return known->value;
        }
    }
    int64_t horizon_before = horizon;
    int64_t ranked[COLUMNS];
    int count = actions_of(mask, ply, mover, first, ranked), chosen = -1;
    double best = -INFINITY, floor = alpha;
    for (int i = 0; i < count; i++) {
        int action = next_action(ranked, i, count);
        u64 drop = mask + (1ULL << action * HEIGHT);
        double value = -full(me ^ mask, mask | drop, depth - 1, -beta, -floor, ply + 1);
        if (value > best)
            best = value, chosen = action;
        if (value >= beta) {
            if (killers[ply][0] != action)
                killers[ply][1] = killers[ply][0], killers[ply][0] = action;
            history[mover][action] += depth * depth;
            if (history[mover][action] > 1 << 28)
                history[mover][action] = 1 << 28;
            break;
        }
        if (value > floor)
            floor = value;
    }
    known->key = key, known->value = best, known->depth = depth, known->action = chosen;
    known->bound = best <= alpha ? UPPER : best >= beta ? LOWER : EXACT;
    known->complete = horizon == horizon_before;
    return best;
}

/* the doors: return the value, and the number of nodes in `count` */

double plain_search(u64 me, u64 mask, int depth, const double *given, int64_t *count)
{
    memcpy(weights, given, sizeof weights);
    nodes = 0;
    double value = plain(me, mask, depth, -INFINITY, INFINITY);
    *count = nodes;
    return value;
}

double full_search(u64 me, u64 mask, int depth, const double *given, int64_t *count)
{
    memcpy(weights, given, sizeof weights);
    memset(history, 0, sizeof history);
    memset(killers, -1, sizeof killers);
    nodes = horizon = 0;
    table = calloc(SLOTS, sizeof *table);
    if (!table)
        return NAN;
    double value = 0.0;
    for (int d = 1; d <= depth; d++)
        value = full(me, mask, d, -INFINITY, INFINITY, 0);
    free(table);
    *count = nodes;
    return value;
}
