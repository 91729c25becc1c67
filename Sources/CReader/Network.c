// Which addresses a reader of the network connects to: none of private networks, unless the client itself named one. A redirect, and a
// name that suddenly resolves to another address, end here, whatever library follows them.
#define _GNU_SOURCE
#include "CReader.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define METADATA "a metadata address of a cloud"
#define LOOPBACK "a loopback address"
#define LINK_LOCAL "a link-local address"
#define PRIVATE "an address of a private network"
#define RESERVED "a reserved address"

// The first that fits counts.
static const struct {
  uint8_t address[4];
  int bits;
  const char *kind;
} kinds4[] = {
    {{169, 254, 169, 254}, 32, METADATA}, {{100, 100, 100, 200}, 32, METADATA}, {{192, 0, 0, 192}, 32, METADATA},
    {{168, 63, 129, 16}, 32, METADATA},   {{0}, 8, LOOPBACK},                   {{127}, 8, LOOPBACK},
    {{169, 254}, 16, LINK_LOCAL},         {{10}, 8, PRIVATE},                   {{172, 16}, 12, PRIVATE},
    {{192, 168}, 16, PRIVATE},            {{100, 64}, 10, PRIVATE},             {{192, 0, 0}, 24, RESERVED},
    {{198, 18}, 15, RESERVED},            {{224}, 3, RESERVED},
};

static const struct {
  uint8_t address[16];
  int bits;
  const char *kind;
  // Where an address of version 4 is embedded; 0 if none is.
  int embeds;
} kinds6[] = {
    {{0xfd, 0, 0x0e, 0xc2, [15] = 0x54, [14] = 0x02}, 128, METADATA, 0}, {{0}, 128, LOOPBACK, 0}, {{[15] = 1}, 128, LOOPBACK, 0},
    {{[10] = 0xff, [11] = 0xff}, 96, NULL, 12}, {{0}, 96, NULL, 12},
    // Translated to version 4, by everyone's prefix, a network's own, and 6to4.
    {{0, 0x64, 0xff, 0x9b}, 96, NULL, 12}, {{0, 0x64, 0xff, 0x9b, 0, 1}, 48, PRIVATE, 0}, {{0x20, 0x02}, 16, NULL, 2},
    {{0xfe, 0x80}, 10, LINK_LOCAL, 0}, {{0xfe, 0xc0}, 10, PRIVATE, 0}, {{0xfc}, 7, PRIVATE, 0}, {{0xff}, 8, RESERVED, 0},
};

static int begins(const uint8_t *address, const uint8_t *prefix, int bits) {
  if (memcmp(address, prefix, bits / 8) != 0) return 0;
  int mask = 0xff00 >> bits % 8 & 0xff;
  return bits % 8 == 0 || (address[bits / 8] & mask) == (prefix[bits / 8] & mask);
}

static const char *kind4(const uint8_t *address) {
  for (size_t i = 0; i < sizeof kinds4 / sizeof *kinds4; i++)
    if (begins(address, kinds4[i].address, kinds4[i].bits)) return kinds4[i].kind;
  return NULL;
}

static const char *kind6(const uint8_t *address) {
  for (size_t i = 0; i < sizeof kinds6 / sizeof *kinds6; i++)
    if (begins(address, kinds6[i].address, kinds6[i].bits)) return kinds6[i].embeds ? kind4(address + kinds6[i].embeds) : kinds6[i].kind;
  return NULL;
}

static const char *private_kind(const struct sockaddr *address) {
  if (address->sa_family == AF_INET) return kind4((const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr);
  if (address->sa_family == AF_INET6) return kind6(((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr);
  return NULL;
}

const char *creader_private_kind(const char *text) {
  uint8_t address[16];
  if (inet_pton(AF_INET, text, address) == 1) return kind4(address);
  return inet_pton(AF_INET6, text, address) == 1 ? kind6(address) : NULL;
}

static struct addrinfo *resolve(const char *host, const char *port) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  return getaddrinfo(host, port, &hints, &found) == 0 ? found : NULL;
}

// Written before another thread is there that connects.
static int is_guarded;
static struct sockaddr_storage proxies[16];
static size_t proxy_count;
static char refused[160];

void creader_guard_network(const char *host, const char *const *proxy_hosts) {
  struct addrinfo *named = resolve(host, NULL);
  is_guarded = !named;
  for (struct addrinfo *next = named; next; next = next->ai_next)
    if (!private_kind(next->ai_addr)) is_guarded = 1;
  if (named) freeaddrinfo(named);
  for (; is_guarded && *proxy_hosts; proxy_hosts++) {
    struct addrinfo *found = resolve(*proxy_hosts, NULL);
    for (struct addrinfo *next = found; next && proxy_count < sizeof proxies / sizeof *proxies; next = next->ai_next)
      memcpy(&proxies[proxy_count++], next->ai_addr, next->ai_addrlen);
    if (found) freeaddrinfo(found);
  }
}

const char *creader_refused_address(void) { return refused[0] ? refused : NULL; }

int creader_connection_failure(const char *host, const char *port) {
  int failure = 0;
  struct addrinfo *found = resolve(host, port);
  for (struct addrinfo *next = found; next; next = next->ai_next) {
    int probe = socket(next->ai_family, SOCK_STREAM, 0);
    if (probe < 0) continue;
    struct timeval limit = {.tv_sec = 5};
    setsockopt(probe, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    failure = connect(probe, next->ai_addr, next->ai_addrlen) == 0 ? 0 : errno == EINPROGRESS ? ETIMEDOUT : errno;
    close(probe);
    if (failure == 0) break;
  }
  if (found) freeaddrinfo(found);
  return failure;
}

#ifdef __linux__
#include <sys/syscall.h>

static int is_proxy(const struct sockaddr *address) {
  for (size_t i = 0; i < proxy_count; i++) {
    if (proxies[i].ss_family != address->sa_family) continue;
    if (address->sa_family == AF_INET
            ? memcmp(&((struct sockaddr_in *)&proxies[i])->sin_addr, &((const struct sockaddr_in *)address)->sin_addr, 4) == 0
            : memcmp(&((struct sockaddr_in6 *)&proxies[i])->sin6_addr, &((const struct sockaddr_in6 *)address)->sin6_addr, 16) == 0)
      return 1;
  }
  return 0;
}

// Name servers are in private networks. A port is at the same place in both versions.
static int asks_for_a_name(int socket, const struct sockaddr *address) {
  int type = 0;
  socklen_t size = sizeof type;
  return ((const struct sockaddr_in *)address)->sin_port == htons(53) &&
         getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_DGRAM;
}

// Takes the place of the C library's function for everything in the process: libraries find the program's symbols first.
__attribute__((visibility("default"))) int connect(int socket, const struct sockaddr *address, socklen_t length) {
  const char *kind = is_guarded ? private_kind(address) : NULL;
  if (kind && !is_proxy(address) && !asks_for_a_name(socket, address)) {
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(address->sa_family,
              address->sa_family == AF_INET ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                                            : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr,
              text, sizeof text);
    if (!refused[0]) snprintf(refused, sizeof refused, "%s, %s", text, kind);
    errno = EACCES;
    return -1;
  }
  return (int)syscall(SYS_connect, socket, address, length);
}
#endif
