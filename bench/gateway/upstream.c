// A model server that costs next to nothing: one thread, epoll, replies that are ready before anyone asks.
//
//   upstream PORT PAUSE_US CHAT_REPLY CHAT_STREAM ANTHROPIC_REPLY ANTHROPIC_STREAM
//
// PORT 0 takes a free one; it is printed. The last four are files: two whole replies, and two streams of SSE events, of
// which each is sent alone, PAUSE_US after the one before. A POST to /v1/messages is answered as Anthropic does, any other
// as OpenAI Chat does; `"stream":true` in its body asks for the stream. The model's name may ask for a fault:
//
//   cut-N     N events of a stream, then the line breaks        fail-N   an error with status N
//   stall-N   N events of a stream, then nothing more           hang     no answer at all
//   half      half of a whole reply, then the line breaks       close    the line breaks before any byte
//
// Eight `@` in a reply are replaced by the eight characters behind `tag:` in the request: an answer can be told from
// another's. GET /state tells what is going on.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4096, TAG = 8, LARGEST = 8 << 20 };

typedef struct { char *data; size_t size; long tag; } Piece;  // `tag`: where the tag stands, or -1
typedef struct { Piece whole, *events; int count; } Script;
typedef enum { PLAIN, CUT, STALL, FAIL, HANG, HALF, CLOSE } Fault;

typedef struct {
    int fd;
    char *in;
    size_t size, room;
    char *out;  // what the socket would not take yet
    size_t left, out_room;
    const Script *script;  // of the stream that runs
    int at, until;
    Fault fault;
    int64_t due;
    char tag[TAG];
} Connection;

static Connection *connections[MOST];
static Script chat, anthropic;
static int polled;
static int64_t pause_us;
static long asked, listed, streaming, left_early, opened;

static int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void die(const char *why) {
    perror(why);
    exit(1);
}

// -- what is said

static char *slurp(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) die(path);
    char *held = malloc(LARGEST);
    *size = fread(held, 1, LARGEST, file);
    fclose(file);
    return held;
}

static Piece framed(const char *format, const char *body, size_t size, const char *tail) {
    Piece piece;
    piece.data = malloc(size + 256);
    int head = sprintf(piece.data, format, size);
    memcpy(piece.data + head, body, size);
    strcpy(piece.data + head + size, tail);
    piece.size = head + size + strlen(tail);
    char *tag = memmem(piece.data, piece.size, "@@@@@@@@", TAG);
    piece.tag = tag ? tag - piece.data : -1;
    return piece;
}

static void load(Script *script, const char *whole, const char *stream) {
    size_t size;
    char *held = slurp(whole, &size);
    script->whole = framed("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n", held, size, "");
    free(held);
    held = slurp(stream, &size);
    script->events = malloc(sizeof(Piece) * 100000);
    for (char *at = held, *end; (end = memmem(at, held + size - at, "\n\n", 2)); at = end + 2)
        script->events[script->count++] = framed("%zx\r\n", at, end + 2 - at, "\r\n");
    free(held);
}

// -- connections

static void watch(Connection *c, int what) {
    struct epoll_event event = {.events = what, .data.ptr = c};
    epoll_ctl(polled, EPOLL_CTL_MOD, c->fd, &event);
}

static void end_stream(Connection *c) {
    if (c->script) streaming--;
    c->script = NULL;
    c->due = 0;
}

static void drop(Connection *c) {
    end_stream(c);
    connections[c->fd] = NULL;
    close(c->fd);
    opened--;
    free(c->in);
    free(c->out);
    free(c);
}

static void say(Connection *c, const char *data, size_t size) {
    if (!c->left) {
        ssize_t sent = write(c->fd, data, size);
        if (sent < 0) sent = 0;  // a line that is broken is seen by epoll
        if ((size_t)sent == size) return;
        data += sent, size -= sent;
        watch(c, EPOLLIN | EPOLLOUT);
    }
    if (c->left + size > c->out_room) c->out = realloc(c->out, c->out_room = (c->left + size) * 2);
    memcpy(c->out + c->left, data, size);
    c->left += size;
}

static void say_piece(Connection *c, const Piece *piece, size_t size) {
    if (piece->tag < 0 || (size_t)piece->tag + TAG > size) {
        say(c, piece->data, size);
        return;
    }
    char copy[16384];
    if (size > sizeof copy) size = sizeof copy;
    memcpy(copy, piece->data, size);
    memcpy(copy + piece->tag, c->tag, TAG);
    say(c, copy, size);
}

// The next event of a stream. False: the connection is gone.
static int step(Connection *c) {
    if (c->fault == CUT && c->at >= c->until) return drop(c), 0;
    if (c->fault == STALL && c->at >= c->until) return c->due = 0, 1;
    const Piece *piece = &c->script->events[c->at++];
    say_piece(c, piece, piece->size);
    if (c->at < c->script->count) {
        c->due += pause_us;
    } else {
        say(c, "0\r\n\r\n", 5);
        end_stream(c);
    }
    return 1;
}

static void read_fault(Connection *c, const char *body, size_t size) {
    static const struct { const char *name; Fault fault; } names[] = {
        {"cut-", CUT}, {"stall-", STALL}, {"fail-", FAIL}, {"hang", HANG}, {"half", HALF}, {"close", CLOSE}};
    c->fault = PLAIN;
    c->until = 0;
    const char *at = memmem(body, size, "\"model\":", 8);
    if (!at || at + 32 > body + size) return;
    at += 8;
    while (*at == ' ' || *at == '"') at++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i].name);
        if (!strncmp(at, names[i].name, length)) {
            c->fault = names[i].fault;
            c->until = atoi(at + length);
        }
    }
}

// One request is whole. False: the connection is gone.
static int answer(Connection *c, const char *head, const char *body, size_t size) {
    char said[512];
    if (!strncmp(head, "GET /state", 10)) {
        char state[256];
        int length = sprintf(state, "{\"asked\":%ld,\"listed\":%ld,\"streaming\":%ld,\"left_early\":%ld,\"open\":%ld}", asked, listed, streaming,
                             left_early, opened);
        int all = sprintf(said, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, state);
        return say(c, said, all), 1;
    }
    if (!strncmp(head, "GET ", 4)) listed++;  // its models: asked for at a gateway's start
    else asked++;
    const Script *script = strncmp(head, "POST /v1/messages", 17) ? &chat : &anthropic;
    const char *tag = memmem(body, size, "tag:", 4);
    if (tag && tag + 4 + TAG <= body + size) memcpy(c->tag, tag + 4, TAG);
    else memcpy(c->tag, "untagged", TAG);
    read_fault(c, body, size);
    if (c->fault == CLOSE) return drop(c), 0;
    if (c->fault == HANG) return 1;
    if (c->fault == FAIL) {
        static const char why[] = "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"as asked for\"}}";
        int all = sprintf(said, "HTTP/1.1 %d Error\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s", c->until,
                          sizeof why - 1, why);
        return say(c, said, all), 1;
    }
    if (memmem(body, size, "\"stream\":true", 13) || memmem(body, size, "\"stream\": true", 14)) {
        static const char start[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        say(c, start, sizeof start - 1);
        c->script = script;
        streaming++;
        c->at = 0;
        c->due = now_us();
        return step(c);
    }
    say_piece(c, &script->whole, c->fault == HALF ? script->whole.size / 2 : script->whole.size);
    return c->fault == HALF ? (drop(c), 0) : 1;
}

static void take(Connection *c) {
    for (;;) {
        if (c->size + 65536 > c->room) c->in = realloc(c->in, c->room = c->room * 2 + 131072);
        ssize_t got = read(c->fd, c->in + c->size, c->room - c->size - 1);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) {
            left_early += c->script || c->fault == HANG;
            drop(c);
            return;
        }
        c->size += got;
        c->in[c->size] = 0;
        for (;;) {
            char *end = memmem(c->in, c->size, "\r\n\r\n", 4);
            if (!end) break;
            char *told = strcasestr(c->in, "\r\ncontent-length:");
            size_t body = told && told < end ? strtoul(told + 17, NULL, 10) : 0;
            size_t all = end + 4 - c->in + body;
            if (c->size < all) break;
            if (!answer(c, c->in, end + 4, body)) return;
            memmove(c->in, c->in + all, c->size - all + 1);
            c->size -= all;
        }
    }
}

static void flush(Connection *c) {
    ssize_t sent = write(c->fd, c->out, c->left);
    if (sent <= 0) return;
    memmove(c->out, c->out + sent, c->left - sent);
    c->left -= sent;
    if (!c->left) watch(c, EPOLLIN);
}

static void welcome(int listening) {
    int fd;
    while ((fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (fd >= MOST) {
            close(fd);
            continue;
        }
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        Connection *c = connections[fd] = calloc(1, sizeof(Connection));
        c->fd = fd;
        opened++;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        epoll_ctl(polled, EPOLL_CTL_ADD, fd, &event);
    }
}

// Steps the streams that are due; milliseconds until the next one is, or -1.
static int run_streams(void) {
    int64_t now = now_us(), next = INT64_MAX;
    if (!streaming) return -1;
    for (int fd = 0; fd < MOST; fd++) {
        Connection *c = connections[fd];
        if (!c || !c->script || !c->due) continue;
        if (c->due <= now && !c->left && !step(c)) continue;
        if (c->script && c->due && c->due < next) next = c->due;
    }
    if (next == INT64_MAX) return -1;
    return next <= now ? 1 : (int)((next - now + 999) / 1000);
}

int main(int count, char **arguments) {
    if (count != 7) return fprintf(stderr, "see the top of upstream.c\n"), 2;
    signal(SIGPIPE, SIG_IGN);
    pause_us = atol(arguments[2]);
    load(&chat, arguments[3], arguments[4]);
    load(&anthropic, arguments[5], arguments[6]);
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1]))};
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof place;
    if (bind(listening, (struct sockaddr *)&place, length) || listen(listening, 1024)) die("listen");
    getsockname(listening, (struct sockaddr *)&place, &length);
    printf("%d\n", ntohs(place.sin_port));
    fflush(stdout);
    polled = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, seen[256];
    epoll_ctl(polled, EPOLL_CTL_ADD, listening, &event);
    for (;;) {
        int got = epoll_wait(polled, seen, 256, run_streams());
        for (int i = 0; i < got; i++) {
            Connection *c = seen[i].data.ptr;
            if (!c) {
                welcome(listening);
            } else {
                if (seen[i].events & EPOLLOUT) flush(c);
                if (seen[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) take(c);
            }
        }
    }
}
